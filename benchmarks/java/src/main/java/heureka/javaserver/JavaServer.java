package heureka.javaserver;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.netflix.eureka.server.EnableEurekaServer;

/** A Spring Cloud Eureka server with everything at its defaults; what differs stands in application.yml. */
@SpringBootApplication
@EnableEurekaServer
public class JavaServer {
    public static void main(String[] args) {
        SpringApplication.run(JavaServer.class, args);
    }
}
