//! The resolvers of the system.

use std::net::IpAddr;
use std::time::Duration;

use hickory_resolver::config::LookupIpStrategy;
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::RData;
use hickory_resolver::{ResolverBuilder, TokioResolver};

use super::dns::{Texts, TxtLookup};
use super::names::{Addresses, NameLookup, Services};
use super::source::SourceError;

/// Longest time for one question with all its retries.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest time that an answer is kept, whatever it says itself: who asks again wants to know.
const KEPT: Duration = Duration::from_secs(5);

/// Asks the resolvers of the system.
pub struct SystemDns(TokioResolver);

impl SystemDns {
    /// With the system's settings.
    ///
    /// # Errors
    /// If the system's settings cannot be read.
    pub fn new() -> anyhow::Result<Self> {
        Self::build(TokioResolver::builder_tokio()?)
    }

    fn build(mut builder: ResolverBuilder<TokioRuntimeProvider>) -> anyhow::Result<Self> {
        let options = builder.options_mut();
        options.positive_max_ttl = Some(KEPT);
        options.negative_max_ttl = Some(KEPT);
        // A server with an address of each kind is one server.
        options.ip_strategy = LookupIpStrategy::Ipv4thenIpv6;
        Ok(Self(builder.build()?))
    }
}

/// An answer, or in words why there is none.
async fn asked<T>(name: &str, question: impl Future<Output = Result<T, NetError>>) -> Result<T, SourceError> {
    match tokio::time::timeout(PATIENCE, question).await {
        Err(_) => Err(SourceError(format!("no answer for {name} in time"))),
        Ok(Err(error)) if error.is_nx_domain() => Err(SourceError(format!("{name} does not exist in DNS"))),
        Ok(Err(error)) if error.is_no_records_found() => {
            Err(SourceError(format!("DNS has no records of this kind for {name}")))
        }
        Ok(Err(error)) => Err(SourceError(format!("{name} cannot be looked up: {error}"))),
        Ok(Ok(answer)) => Ok(answer),
    }
}

impl TxtLookup for SystemDns {
    fn txt(&self, name: &str) -> Texts {
        let (resolver, name) = (self.0.clone(), name.to_owned());
        Box::pin(async move {
            // The name is complete: the system's search list must not be tried.
            let answer = asked(&name, resolver.txt_lookup(format!("{name}."))).await?;
            let texts = answer.answers().iter().filter_map(|record| match &record.data {
                RData::TXT(txt) => {
                    Some(txt.txt_data.iter().map(|part| String::from_utf8_lossy(part)).collect::<String>())
                }
                _ => None,
            });
            Ok(texts.collect())
        })
    }
}

impl NameLookup for SystemDns {
    fn addresses(&self, name: &str) -> Addresses {
        let (resolver, name) = (self.0.clone(), name.to_owned());
        Box::pin(async move {
            let answer = asked(&name, resolver.lookup_ip(name.as_str())).await?;
            Ok(answer.iter().collect::<Vec<IpAddr>>())
        })
    }

    fn services(&self, name: &str) -> Services {
        let (resolver, name) = (self.0.clone(), name.to_owned());
        Box::pin(async move {
            let answer = asked(&name, resolver.srv_lookup(name.as_str())).await?;
            let services = answer.answers().iter().filter_map(|record| match &record.data {
                RData::SRV(srv) => Some((srv.target.to_utf8().trim_end_matches('.').to_owned(), srv.port)),
                _ => None,
            });
            Ok(services.collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};

    use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
    use hickory_resolver::proto::op::{Message, OpCode, ResponseCode};
    use hickory_resolver::proto::rr::rdata::{A, AAAA, SRV, TXT};
    use hickory_resolver::proto::rr::{Name, Record, RecordType};

    use super::*;

    fn name(text: &str) -> Name {
        Name::from_ascii(text).expect("a name")
    }

    /// What the server of the test holds.
    fn records(asked: &str, kind: RecordType) -> Option<Vec<RData>> {
        Some(match (asked, kind) {
            ("eureka.svc.", RecordType::A) => {
                [[10, 0, 0, 2], [10, 0, 0, 1]].map(|ip| RData::A(A(Ipv4Addr::from(ip)))).into()
            }
            ("eureka.svc.", RecordType::AAAA) | ("six.svc.", RecordType::AAAA) => {
                vec![RData::AAAA(AAAA(Ipv6Addr::LOCALHOST))]
            }
            ("six.svc.", _) => Vec::new(),
            ("_http._tcp.eureka.svc.", RecordType::SRV) => {
                let srv = |port, host: &str| RData::SRV(SRV::new(0, 50, port, name(host)));
                vec![srv(8761, "a.eureka.svc."), srv(8762, "b.eureka.svc.")]
            }
            ("txt.eureka.svc.", RecordType::TXT) => {
                vec![RData::TXT(TXT::new(vec!["one ".to_owned(), "text".to_owned()]))]
            }
            _ => return None,
        })
    }

    /// A server of names on loopback, for as long as the test runs.
    fn server() -> u16 {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let port = socket.local_addr().expect("an address").port();
        std::thread::spawn(move || {
            let mut buffer = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut buffer) {
                let question = Message::from_vec(&buffer[..length]).expect("a question");
                let query = question.queries[0].clone();
                let mut answer = Message::response(question.metadata.id, OpCode::Query);
                match records(&query.name().to_ascii(), query.query_type()) {
                    None => answer.metadata.response_code = ResponseCode::NXDomain,
                    Some(found) => {
                        let of_name = |data| Record::from_rdata(query.name().clone(), 600, data);
                        answer.add_answers(found.into_iter().map(of_name));
                    }
                }
                answer.queries.push(query);
                let _ = socket.send_to(&answer.to_vec().expect("an answer"), from);
            }
        });
        port
    }

    fn dns() -> SystemDns {
        let mut connection = ConnectionConfig::udp();
        connection.port = server();
        let mut server = NameServerConfig::udp(Ipv4Addr::LOCALHOST.into());
        server.connections = vec![connection];
        let config = ResolverConfig::from_name_servers(vec![server]);
        let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        SystemDns::build(builder).expect("resolvers")
    }

    #[actix_web::test]
    async fn records_of_every_kind_are_read() {
        let dns = dns();
        let mut addresses = dns.addresses("eureka.svc").await.expect("addresses");
        addresses.sort_unstable();
        assert_eq!(addresses, [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from), "IPv4 if there is any");
        assert_eq!(dns.addresses("six.svc").await.expect("addresses"), [IpAddr::V6(Ipv6Addr::LOCALHOST)]);
        let services = dns.services("_http._tcp.eureka.svc").await.expect("services");
        let expected = [("a.eureka.svc", 8761), ("b.eureka.svc", 8762)];
        assert_eq!(services, expected.map(|(host, port)| (host.to_owned(), port)));
        assert_eq!(dns.txt("txt.eureka.svc").await.expect("texts"), ["one text"]);
    }

    #[actix_web::test]
    async fn what_is_not_there_is_told_in_words() {
        let dns = dns();
        let missing = dns.addresses("nowhere.svc").await.expect_err("no such name");
        assert_eq!(missing.0, "nowhere.svc does not exist in DNS");
        let other = dns.services("six.svc").await.expect_err("no such records");
        assert_eq!(other.0, "DNS has no records of this kind for six.svc");
    }
}
