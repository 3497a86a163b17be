package heureka.interop;

import com.netflix.discovery.EurekaClient;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;

/** An ordinary web application with the Eureka starter; everything it says to the server comes from the starter. */
@SpringBootApplication
public class SpringClient {
    private final EurekaClient client;

    public SpringClient(EurekaClient client) {
        this.client = client;
    }

    public static void main(String[] args) {
        SpringApplication.run(SpringClient.class, args);
    }

    /** Fires once the web server is up and the registration is under way. */
    @EventListener(ApplicationReadyEvent.class)
    public void watchNeighbour() {
        Neighbour.watch(client);
    }
}
