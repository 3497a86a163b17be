//! Who may ask: HTTP basic (1.5). `spring.security.user.roles` has no meaning here, there is one role.

use crate::secret::Secret;

/// `spring.security.*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecuritySettings {
    /// Present: everything but `/actuator/health` asks for these credentials. Absent: nothing does.
    pub basic: Option<BasicAuth>,
}

/// The one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicAuth {
    /// `spring.security.user.name`; `user` if only a password was given, as in Boot.
    pub user: String,
    /// How to read `password`.
    pub form: PasswordForm,
    /// `spring.security.user.password` without its `{...}` prefix.
    pub password: Secret,
}

/// What the prefix of a password says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordForm {
    /// No prefix or `{noop}`: the password itself.
    Plain,
    /// `{bcrypt}`: its bcrypt hash.
    Bcrypt,
}
