package heureka.interop;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.InstanceInfo.InstanceStatus;
import com.netflix.discovery.DefaultEurekaClientConfig;
import com.netflix.discovery.DiscoveryManager;

/** Netflix' client of the 1.x line with its Jersey 1 transport, started as its oldest users do. */
@SuppressWarnings("deprecation")
public final class NetflixClient {
    private NetflixClient() {
    }

    public static void main(String[] args) throws InterruptedException {
        Settings.apply();
        DiscoveryManager discovery = DiscoveryManager.getInstance();
        discovery.initComponent(new Settings.Instance(), new DefaultEurekaClientConfig());
        Runtime.getRuntime().addShutdownHook(new Thread(discovery::shutdownComponent));
        ApplicationInfoManager.getInstance().setInstanceStatus(InstanceStatus.UP);
        Neighbour.watch(discovery.getEurekaClient());
        Thread.currentThread().join();
    }
}
