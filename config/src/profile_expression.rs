//! Conditions on profiles, such as `peer1 | (cloud & !dev)` (`spec/spring.md` 3.2).
//!
//! Spring's rules: `&` and `|` may not stand side by side without parentheses. Nothing here knows which profiles are active.

/// Deepest nesting of parentheses and negations.
const MAX_DEPTH: usize = 32;

/// Says if an expression holds for the active profiles.
///
/// # Errors
/// Says in words what is malformed.
pub(crate) fn matches(expression: &str, active: &[String]) -> Result<bool, String> {
    let mut parser = Parser { rest: expression, active, depth: 0 };
    let value = parser.sequence()?;
    match parser.peek() {
        None => Ok(value),
        Some(c) => Err(format!("{c:?} stands where an operator or the end should")),
    }
}

struct Parser<'a> {
    rest: &'a str,
    active: &'a [String],
    depth: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn bump(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    /// Operands joined by one kind of operator.
    fn sequence(&mut self) -> Result<bool, String> {
        let mut value = self.operand()?;
        let mut operator = None;
        while let Some(c @ ('&' | '|')) = self.peek() {
            if operator.is_some_and(|before| before != c) {
                return Err("& and | stand side by side; put one of them in parentheses".into());
            }
            operator = Some(c);
            self.bump();
            let right = self.operand()?;
            value = if c == '&' { value && right } else { value || right };
        }
        Ok(value)
    }

    fn operand(&mut self) -> Result<bool, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} levels"));
        }
        let value = match self.peek() {
            Some('!') => {
                self.bump();
                !self.operand()?
            }
            Some('(') => {
                self.bump();
                let value = self.sequence()?;
                if self.peek() != Some(')') {
                    return Err("a parenthesis is not closed".into());
                }
                self.bump();
                value
            }
            _ => self.profile()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn profile(&mut self) -> Result<bool, String> {
        let end = self.rest.find(['!', '&', '|', '(', ')']).unwrap_or(self.rest.len());
        let name = self.rest[..end].trim();
        if name.is_empty() {
            return Err("a profile name is missing".into());
        }
        let holds = self.active.iter().any(|profile| profile == name);
        self.rest = &self.rest[end..];
        Ok(holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holds(expression: &str, active: &[&str]) -> Result<bool, String> {
        let active: Vec<String> = active.iter().map(|p| (*p).to_owned()).collect();
        matches(expression, &active)
    }

    #[test]
    fn operators_work_as_spring_s() {
        let table = [
            ("p1", true),
            ("p3", false),
            ("!p3", true),
            ("p1 & p2", true),
            ("p1&!p2", false),
            ("p3 | p2", true),
            ("(p1 & p3) | p2", true),
            ("!(p1 | p3)", false),
            ("!!p1", true),
            ("my profile | p1", true),
        ];
        for (expression, expected) in table {
            assert_eq!(holds(expression, &["p1", "p2"]), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn malformed_expressions_are_refused_in_words() {
        for expression in ["", "p1 & p2 | p3", "(p1", "p1)", "&p1", "p1 &", "!", "p1 !p2", "()"] {
            assert!(holds(expression, &["p1"]).is_err(), "{expression}");
        }
        assert!(holds(&"(".repeat(100_000), &[]).is_err());
        assert!(holds(&"!".repeat(100_000), &[]).is_err());
    }

    proptest! {
        #[test]
        fn no_expression_panics(text in "[a-c!&|() é]{0,40}") {
            let _ = holds(&text, &["a"]);
        }
    }
}
