"""The clients: how each is started, what it can do and what it is known not to do."""

from dataclasses import dataclass, field

from .builds import CLIENTS, WORK

# A small heap and the quick compiler: these programs live for half a minute on two cores.
JAVA = ("java", "-Xmx128m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")

BOOT_ERROR_PAGE = "takes the body that Spring puts into a 404 for an instance and never registers again"
NEW_APPLICATIONS_NEED_FULL = "drops an application that is new in a delta, so that it fetches a full document for it"
ADDED_IS_NOTHING = "ignores ADDED for an instance that it knows, so that it sees new metadata at the next MODIFIED only"


@dataclass(frozen=True)
class Client:
    """One line of the run. `build` names what must be made for it."""

    name: str
    library: str
    build: str
    command: tuple
    environment: dict = field(default_factory=dict)
    jvm: bool = False
    registers: bool = True
    deltas: bool = True
    # Why the client does not register again after a 404 of a Java server; None if it does.
    stays_away_from_java: str | None = None
    # Why a client of deltas fetches full documents too; None if it must not.
    full_documents: str | None = None
    # Why the client sees new metadata only together with the next change of status; None if it sees it at once.
    metadata_with_status: str | None = None
    # The state it leaves behind when it ends: gone, or DOWN where the library's DELETE is lost on its own shutdown.
    leaves: str = "gone"


def spring(name, build, library, *options, **facts):
    jar = CLIENTS / "java" / build / "target" / f"{build}.jar"
    command = (*JAVA, "-jar", str(jar), "--eureka.client.serviceUrl.defaultZone={server_url}", *options)
    return Client(name, library, build, command, jvm=True, **facts)


def netflix(name, library, *java_options):
    jar = CLIENTS / "java" / name / "target" / f"{name}.jar"
    command = (*JAVA, *java_options, "-jar", str(jar))
    return Client(name, library, name, command, jvm=True, stays_away_from_java=BOOT_ERROR_PAGE)


def node(name, library, deltas, **facts):
    command = ("node", str(CLIENTS / "node" / "client.js"))
    return Client(name, library, "node", command, {"INTEROP_DELTA": str(deltas).lower()}, deltas=deltas, **facts)


def fargo(form, reads):
    return Client(
        f"fargo-{form}",
        f"Go hudl/fargo 1.4.0, {form.upper()}, {reads}",
        "fargo",
        (str(WORK / "bin" / "fargo"),),
        {"INTEROP_FORMAT": form},
        deltas=False,
    )


WEBCLIENT = "--eureka.client.webclient.enabled=true"

CLIENTS_BY_NAME = {
    client.name: client
    for client in (
        spring("spring4", "spring4", "Spring Boot 4.0.7, Spring Cloud 2025.1.4 (client 5.0.3), RestClient"),
        spring(
            "spring27",
            "spring27",
            "Spring Boot 2.7.18, Spring Cloud 2021.0.9 (client 3.1.8), RestTemplate",
            stays_away_from_java=BOOT_ERROR_PAGE,
        ),
        netflix("netflix2", "Netflix eureka-client 2.0.6 with eureka-client-jersey3"),
        netflix("netflix1", "Netflix eureka-client 1.10.18 (Jersey 1) through DiscoveryManager"),
        spring("spring4-webclient", "spring4", "as spring4, WebClient", WEBCLIENT),
        spring(
            "spring27-webclient",
            "spring27",
            "as spring27, WebClient",
            WEBCLIENT,
            stays_away_from_java=BOOT_ERROR_PAGE,
            leaves="DOWN",
        ),
        Client(
            "python",
            "PyPI py-eureka-client 0.13.3",
            "python",
            (str(WORK / "venv" / "bin" / "python"), str(CLIENTS / "python" / "client.py")),
            full_documents=NEW_APPLICATIONS_NEED_FULL,
        ),
        node("node", "npm eureka-js-client 4.5.0, full documents", deltas=False),
        node(
            "node-delta",
            "npm eureka-js-client 4.5.0, shouldUseDelta",
            deltas=True,
            metadata_with_status=ADDED_IS_NOTHING,
        ),
        fargo("xml", "apps"),
        fargo("json", "vips"),
        Client(
            "prometheus",
            "Prometheus 0.316.0 discovery/eureka, full documents",
            "prometheus",
            (str(WORK / "bin" / "prometheus"),),
            registers=False,
            deltas=False,
        ),
    )
}
