"""py-eureka-client: registers, beats and prints what its own copy of the registry says of the neighbour."""

import json
import os
import signal
import threading

from py_eureka_client import eureka_client


def setting(name):
    return os.environ["INTEROP_" + name]


def view(client):
    neighbour = client.applications.get_application(setting("NEIGHBOUR"))
    return sorted(
        (
            {
                "host": instance.hostName,
                "port": instance.port.port,
                "status": instance.status,
                "color": (instance.metadata or {}).get("color", ""),
            }
            for instance in neighbour.instances
        ),
        key=lambda instance: instance["host"],
    )


def main():
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    client = eureka_client.init(
        eureka_server=setting("SERVER_URL"),
        app_name=setting("APP"),
        instance_id=setting("INSTANCE_ID"),
        instance_host=setting("HOST"),
        instance_ip=setting("IP"),
        instance_port=int(setting("PORT")),
        vip_adr=setting("VIP"),
        metadata={"interop": setting("APP")},
        renewal_interval_in_secs=1,
        duration_in_secs=60,
    )
    last = None
    while not stopping.wait(0.1):
        now = view(client)
        if now != last:
            print("@view", json.dumps(now), flush=True)
            last = now
    eureka_client.stop()


if __name__ == "__main__":
    main()
