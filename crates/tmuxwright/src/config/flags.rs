//! Command-line flags of the settings that have one.

use clap::{Arg, ArgAction};

use super::{CONFIG_FLAG, SETTINGS, Setting, SettingKind};

/// All flags, for clap.
pub fn flags() -> Vec<Arg> {
    let mut args: Vec<Arg> = SETTINGS.iter().filter_map(flag).collect();
    args.push(
        Arg::new(CONFIG_FLAG.0)
            .long(CONFIG_FLAG.0)
            .env(CONFIG_FLAG.1)
            .hide_env_values(true)
            .value_name("FILE")
            .global(true)
            .help("Config file to read [default: config.toml in the user's config directory]"),
    );
    args
}

fn flag(setting: &Setting) -> Option<Arg> {
    let arg = Arg::new(setting.key)
        .long(setting.flag?)
        .env(setting.env.first()?)
        .hide_env_values(true)
        .global(true)
        .help(format!("{} [default: {}]", setting.help, setting.default));
    Some(match setting.kind {
        // Options of ssh come first in the value.
        SettingKind::Text(name) => {
            arg.value_name(name).allow_hyphen_values(name.starts_with("[OPTIONS]"))
        }
        SettingKind::Choice(choices) => arg
            .value_name(choices.join("|"))
            .value_parser(clap::builder::PossibleValuesParser::new(choices))
            .hide_possible_values(true),
        SettingKind::Number => arg.value_name("N"),
        SettingKind::List(name) | SettingKind::Secret(name) => arg.value_name(name),
        SettingKind::Switch => arg
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .hide_default_value(true)
            .value_name("BOOL"),
    })
}
