package heureka.interop;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.EurekaInstanceConfig;
import com.netflix.appinfo.InstanceInfo.InstanceStatus;
import com.netflix.appinfo.providers.EurekaConfigBasedInstanceInfoProvider;
import com.netflix.discovery.DefaultEurekaClientConfig;
import com.netflix.discovery.DiscoveryClient;
import com.netflix.discovery.Jersey3DiscoveryClientOptionalArgs;
import com.netflix.discovery.shared.transport.jersey3.Jersey3TransportClientFactories;

/** Netflix' client of the 2.x line, wired by hand with its Jersey 3 transport. */
public final class NetflixClient {
    private NetflixClient() {
    }

    public static void main(String[] args) throws InterruptedException {
        Settings.apply();
        EurekaInstanceConfig config = new Settings.Instance();
        ApplicationInfoManager manager = new ApplicationInfoManager(
                config, new EurekaConfigBasedInstanceInfoProvider(config).get());
        DiscoveryClient client = new DiscoveryClient(
                manager, new DefaultEurekaClientConfig(), Jersey3TransportClientFactories.getInstance(),
                new Jersey3DiscoveryClientOptionalArgs());
        Runtime.getRuntime().addShutdownHook(new Thread(client::shutdown));
        manager.setInstanceStatus(InstanceStatus.UP);
        Neighbour.watch(client);
        Thread.currentThread().join();
    }
}
