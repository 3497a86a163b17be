package heureka.interop;

import com.netflix.appinfo.MyDataCenterInstanceConfig;
import java.util.Map;

/** The settings of Netflix' own client, as the properties that it reads; the same in both generations. */
final class Settings {
    private Settings() {
    }

    /** Must run before any class of the client reads its configuration. */
    static void apply() {
        String application = Neighbour.environment("APP");
        Map<String, String> properties = Map.ofEntries(
                Map.entry("eureka.serviceUrl.default", Neighbour.environment("SERVER_URL")),
                Map.entry("eureka.region", "default"),
                Map.entry("eureka.shouldUseDns", "false"),
                Map.entry("eureka.preferSameZone", "true"),
                Map.entry("eureka.name", application),
                Map.entry("eureka.instanceId", Neighbour.environment("INSTANCE_ID")),
                Map.entry("eureka.vipAddress", Neighbour.environment("VIP")),
                Map.entry("eureka.port", Neighbour.environment("PORT")),
                Map.entry("eureka.port.enabled", "true"),
                Map.entry("eureka.metadata.interop", application),
                Map.entry("eureka.lease.renewalInterval", "1"),
                Map.entry("eureka.lease.duration", "60"),
                Map.entry("eureka.client.refresh.interval", "1"),
                Map.entry("eureka.appinfo.initial.replicate.time", "0"),
                Map.entry("eureka.shouldFilterOnlyUpInstances", "false"));
        properties.forEach(System::setProperty);
    }

    /** An instance that states the host name and address it is told to, instead of this machine's. */
    static final class Instance extends MyDataCenterInstanceConfig {
        @Override
        public String getHostName(boolean refresh) {
            return Neighbour.environment("HOST");
        }

        @Override
        public String getIpAddress() {
            return Neighbour.environment("IP");
        }
    }
}
