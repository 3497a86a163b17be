package heureka.interop;

import com.netflix.appinfo.InstanceInfo;
import com.netflix.discovery.EurekaClient;
import com.netflix.discovery.shared.Application;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Prints what a client knows of the neighbour application, each time that changes.
 *
 * <p>It reads only the client's own copy of the registry and never asks the server itself.
 */
final class Neighbour implements Runnable {
    private static final long POLL_MS = 100;

    private final EurekaClient client;
    private final String application;
    private String last = "";

    private Neighbour(EurekaClient client, String application) {
        this.client = client;
        this.application = application;
    }

    /** Starts watching in a daemon thread. */
    static void watch(EurekaClient client) {
        Thread thread = new Thread(new Neighbour(client, environment("NEIGHBOUR")), "neighbour");
        thread.setDaemon(true);
        thread.start();
    }

    /** One of the settings that the driver hands over, all of them mandatory. */
    static String environment(String name) {
        String value = System.getenv("INTEROP_" + name);
        if (value == null) {
            throw new IllegalStateException("INTEROP_" + name + " is not set; start this program through interop/run");
        }
        return value;
    }

    @Override
    public void run() {
        while (true) {
            String now = view();
            if (!now.equals(last)) {
                System.out.println("@view " + now);
                System.out.flush();
                last = now;
            }
            try {
                Thread.sleep(POLL_MS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private String view() {
        Application found = client.getApplication(application);
        List<InstanceInfo> instances = found == null ? List.of() : found.getInstancesAsIsFromEureka();
        Map<String, String> byHost = new TreeMap<>();
        for (InstanceInfo instance : instances) {
            byHost.put(instance.getHostName(), String.format(
                    "{\"host\":\"%s\",\"port\":%d,\"status\":\"%s\",\"color\":\"%s\"}",
                    instance.getHostName(), instance.getPort(), instance.getStatus(),
                    instance.getMetadata().getOrDefault("color", "")));
        }
        return "[" + String.join(",", byHost.values()) + "]";
    }
}
