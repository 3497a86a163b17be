"""A Spring Cloud Eureka server and two Heureka nodes as one cluster: `interop/run --cluster`."""
