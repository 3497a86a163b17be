//! Prints the shipped `application.yml`: `cargo run -p heureka-config --example sample > config/application.yml`.

fn main() {
    print!("{}", heureka_config::sample());
}
