"""The driver's own requests to the server: plain HTTP and JSON, no client library.

It plays the neighbour (registers it, overrides its status, changes its metadata, cancels it) and looks at what the
server holds. An answer that is not the documented one is a failure with request and answer in its text.
"""

import http.client
import json
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

TIMEOUT_SECS = 10


class Unexpected(Exception):
    """The server answered something else than it should."""


@dataclass(frozen=True)
class Neighbour:
    """One instance of the application that the clients watch."""

    app: str
    vip: str
    host: str
    port: int

    @property
    def id(self):
        return f"{self.host}:{self.app.lower()}:{self.port}"

    def registration(self, interval_secs=30, duration_secs=900, dirty=None, **members):
        """The body of a registration. Nobody renews the neighbour of a client: its lease outlasts the run."""
        return {
            "instance": {
                "instanceId": self.id,
                "app": self.app,
                "hostName": self.host,
                "ipAddr": "127.0.0.1",
                "vipAddress": self.vip,
                "secureVipAddress": self.vip,
                "status": "UP",
                "port": {"$": self.port, "@enabled": "true"},
                "securePort": {"$": 443, "@enabled": "false"},
                "homePageUrl": f"http://{self.host}:{self.port}/",
                "statusPageUrl": f"http://{self.host}:{self.port}/actuator/info",
                "healthCheckUrl": f"http://{self.host}:{self.port}/actuator/health",
                "countryId": 1,
                "dataCenterInfo": {
                    "@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo",
                    "name": "MyOwn",
                },
                "leaseInfo": {"renewalIntervalInSecs": interval_secs, "durationInSecs": duration_secs},
                "metadata": {"color": "red"},
                **({"lastDirtyTimestamp": str(dirty)} if dirty else {}),
                **members,
            }
        }


class Server:
    """A Eureka server by its base URL; without a path in it, `/eureka` is meant."""

    def __init__(self, base_url):
        parts = urlsplit(base_url if "//" in base_url else f"http://{base_url}")
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"{base_url!r} is no http URL such as http://127.0.0.1:8761")
        self.host, self.port = parts.hostname, parts.port or 80
        self.path = parts.path.rstrip("/") or "/eureka"

    @property
    def url(self):
        return f"http://{self.host}:{self.port}{self.path}/"

    def url_through(self, port):
        """The same server behind a relay on this machine."""
        return f"http://127.0.0.1:{port}{self.path}/"

    def request(self, method, path, body=None, accept="application/json"):
        """Status and text of the answer."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT_SECS)
        try:
            headers = {"Accept": accept}
            if body is not None:
                headers["Content-Type"] = "application/json"
                body = json.dumps(body)
            connection.request(method, self.path + path, body, headers)
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def _must(self, wanted, method, path, body=None):
        status, text = self.request(method, path, body)
        if status != wanted:
            raise Unexpected(f"{method} {self.path}{path} was answered {status}, not {wanted}: {text[:300]}")
        return text

    def register(self, app, registration):
        self._must(204, "POST", f"/apps/{app}", registration)

    def override(self, app, instance_id, status):
        self._must(200, "PUT", f"/apps/{app}/{quote(instance_id)}/status?value={status}")

    def remove_override(self, app, instance_id, value="UP"):
        query = f"?value={value}" if value else ""
        self._must(200, "DELETE", f"/apps/{app}/{quote(instance_id)}/status{query}")

    def set_metadata(self, app, instance_id, key, value):
        self._must(200, "PUT", f"/apps/{app}/{quote(instance_id)}/metadata?{key}={value}")

    def cancel(self, app, instance_id):
        self._must(200, "DELETE", f"/apps/{app}/{quote(instance_id)}")

    def instance(self, app, instance_id):
        """The instance as the server holds it, or None if it holds none."""
        path = f"/apps/{app}/{quote(instance_id)}"
        status, text = self.request("GET", path)
        if status == 404:
            return None
        if status != 200:
            raise Unexpected(f"GET {self.path}{path} was answered {status}: {text[:300]}")
        try:
            return json.loads(text)["instance"]
        except (ValueError, KeyError, TypeError) as error:
            raise Unexpected(f"GET {self.path}{path} is no instance document ({error}): {text[:300]}") from error

    def listed(self, app, instance_id):
        """Whether the full document lists the instance."""
        text = self._must(200, "GET", "/apps/")
        applications = json.loads(text)["applications"]["application"]
        return any(
            instance["instanceId"] == instance_id
            for application in applications
            if application["name"] == app
            for instance in application["instance"]
        )

    def page(self, path):
        """A page in XML, the only form in which a Spring server gives some."""
        status, text = self.request("GET", path, accept="application/xml")
        if status != 200:
            raise Unexpected(f"GET {self.path}{path} was answered {status}: {text[:300]}")
        return text

    def forget(self, app, instance_id):
        """Cancels what an aborted run may have left; an unknown instance is fine."""
        self.request("DELETE", f"/apps/{app}/{quote(instance_id)}")
