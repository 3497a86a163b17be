//! Everything that does not stand in a file: environment, `-D`, JSON, command line.

use super::jvm_flags;
use super::stack::Stack;
use crate::error::ConfigError;
use crate::invocation::Invocation;
use crate::property::{COMMAND_LINE, Origin, Property, PropertySource, SourceKind};
use crate::readers::read_json;
use crate::report::Notice;

/// The sources outside files, lowest precedence first.
pub(crate) fn outside_sources(invocation: &Invocation) -> Result<Stack, ConfigError> {
    let mut sources = vec![environment(&invocation.env), system(invocation), arguments(&invocation.args)];
    let stack = Stack::new(sources.clone());
    let json = json_source(&stack)?;
    if let Some(json) = json {
        sources.insert(2, json);
    }
    if let Some(platform) = cloud_foundry(&invocation.env)? {
        sources.insert(0, platform);
    }
    Ok(Stack::new(sources))
}

fn environment(env: &[(String, String)]) -> PropertySource {
    let property = |(name, value): &(String, String)| Property {
        name: name.clone(),
        value: value.clone(),
        origin: Origin::Environment(name.clone()),
    };
    PropertySource::new(SourceKind::Environment, env.iter().map(property).collect())
}

fn system(invocation: &Invocation) -> PropertySource {
    let mut properties = jvm_flags::system_properties(&invocation.env);
    properties.extend(invocation.args.iter().filter_map(|arg| jvm_flags::definition(arg, COMMAND_LINE)));
    PropertySource::new(SourceKind::Plain, properties)
}

/// `--name=value`; `--name` alone means `true`. Everything after a lone `--` is left alone.
fn arguments(args: &[String]) -> PropertySource {
    let options = args.iter().take_while(|arg| *arg != "--").filter_map(|arg| {
        let pair = arg.strip_prefix("--")?;
        let (name, value) = pair.split_once('=').unwrap_or((pair, "true"));
        let property = Property { name: name.to_owned(), value: value.to_owned(), origin: Origin::Argument };
        (!name.is_empty()).then_some(property)
    });
    PropertySource::new(SourceKind::Arguments, options.collect())
}

/// Arguments that set nothing: `-Xmx1g`, which was meant for a virtual machine, one dash too few, or no name.
pub(crate) fn odd_arguments(args: &[String]) -> Vec<Notice> {
    let settings = args.iter().take_while(|arg| *arg != "--");
    let odd = settings.filter(|arg| match arg.strip_prefix("--") {
        Some(pair) => pair.starts_with('='),
        None => arg.starts_with('-') && jvm_flags::definition(arg, COMMAND_LINE).is_none(),
    });
    let name = |arg: &String| arg.split('=').next().unwrap_or_default().to_owned();
    odd.map(|arg| Notice::warning(name(arg), COMMAND_LINE, "sets nothing; settings are written --key=value"))
        .collect()
}

fn json_source(stack: &Stack) -> Result<Option<PropertySource>, ConfigError> {
    // the literal variable name is looked up by the same rule as any other spelling
    let Some(found) = stack.find("spring.application.json").filter(|p| !p.value.trim().is_empty()) else {
        return Ok(None);
    };
    let properties = read_json(&found.value, "", &Origin::Json).map_err(|e| ConfigError::Syntax {
        place: found.origin.to_string(),
        line: e.line,
        message: e.message,
    })?;
    Ok(Some(PropertySource::new(SourceKind::Plain, properties)))
}

/// `VCAP_APPLICATION` becomes `vcap.application.*`, for placeholders and the default instance id.
fn cloud_foundry(env: &[(String, String)]) -> Result<Option<PropertySource>, ConfigError> {
    let Some((name, text)) = env.iter().find(|(name, _)| name == "VCAP_APPLICATION") else { return Ok(None) };
    let origin = Origin::Environment(name.clone());
    let properties = read_json(text, "vcap.application", &origin).map_err(|e| ConfigError::Syntax {
        place: origin.to_string(),
        line: e.line,
        message: e.message,
    })?;
    Ok(Some(PropertySource::new(SourceKind::Plain, properties)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(args: &[&str], env: &[(&str, &str)]) -> Invocation {
        Invocation {
            args: args.iter().map(|a| (*a).to_owned()).collect(),
            env: env.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            working_dir: ".".into(),
        }
    }

    fn value(args: &[&str], env: &[(&str, &str)], name: &str) -> Option<String> {
        outside_sources(&invocation(args, env)).unwrap().find(name).map(|p| p.value.clone())
    }

    #[test]
    fn each_source_beats_the_one_before() {
        let env = [("A_B", "env"), ("JAVA_OPTS", "-Da.b=jvm")];
        let with_json = [env[0], env[1], ("SPRING_APPLICATION_JSON", "{\"a\":{\"b\":\"json\"}}")];
        assert_eq!(value(&[], &env[..1], "a.b").as_deref(), Some("env"));
        assert_eq!(value(&[], &env, "a.b").as_deref(), Some("jvm"));
        assert_eq!(value(&["-Da.b=own"], &env, "a.b").as_deref(), Some("own"));
        assert_eq!(value(&["-Da.b=own"], &with_json, "a.b").as_deref(), Some("json"));
        assert_eq!(value(&["--a.b=arg", "-Da.b=own"], &with_json, "a.b").as_deref(), Some("arg"));
    }

    #[test]
    fn flags_are_true_and_other_words_are_left_alone() {
        assert_eq!(value(&["--debug"], &[], "debug").as_deref(), Some("true"));
        assert_eq!(value(&["config", "--a="], &[], "a").as_deref(), Some(""));
        assert_eq!(value(&["--", "--a=1"], &[], "a"), None);
        assert_eq!(value(&["-x", "--=1"], &[], "x"), None);
    }

    #[test]
    fn json_may_also_be_an_argument_and_errors_do_not_quote_it() {
        assert_eq!(value(&["--spring.application.json={\"a\":1}"], &[], "a").as_deref(), Some("1"));
        let error = outside_sources(&invocation(&[], &[("SPRING_APPLICATION_JSON", "{secret")])).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("SPRING_APPLICATION_JSON") && !text.contains("secret"), "{text}");
    }

    #[test]
    fn cloud_foundry_s_variable_is_flattened() {
        let env = [("VCAP_APPLICATION", "{\"instance_id\":\"i-1\"}")];
        assert_eq!(value(&[], &env, "vcap.application.instance_id").as_deref(), Some("i-1"));
    }
}
