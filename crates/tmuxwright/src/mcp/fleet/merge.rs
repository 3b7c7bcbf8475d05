//! Merging of the answers of a fleet call.

use serde_json::{Map, Value, json};
use terminal::text::inline;

use super::WaitEnds;
use crate::contract::{FleetEach, FleetPart, Form, Reply, ToolError, shorten};
use crate::mcp::{call_server, render};
use crate::registry::SERVER_ARGUMENT;

/// Limit of an error that is repeated in the answer of another server.
const MAX_REMARK_CHARS: usize = 200;

/// Puts answers side by side. The call fails only if all have failed.
pub(super) fn side_by_side(each: &FleetEach, parts: Vec<FleetPart>) -> Result<Reply, ToolError> {
    if parts.iter().all(|part| part.answer.is_err()) {
        return Err(all_failed(&parts));
    }
    let mut text = (each.text)(&parts);
    let mut structured = Map::new();
    if let Some(name) = each.summed {
        let replies = parts.iter().filter_map(|part| part.answer.as_ref().ok());
        let numbers = replies.filter_map(|reply| reply.structured.get(name)?.as_u64());
        structured.insert(name.to_owned(), numbers.sum::<u64>().into());
    }
    let (mut results, mut redacted, mut notices) = (Vec::new(), 0, Vec::new());
    for FleetPart { server, target, answer } in parts {
        let mut result = Map::new();
        result.insert(SERVER_ARGUMENT.to_owned(), server.into());
        if let Some(target) = target {
            result.insert("target".to_owned(), target.into());
        }
        match answer {
            Ok(reply) => {
                redacted += reply.redacted;
                notices.extend(reply.notices);
                if let Value::Object(fields) = reply.structured {
                    result.extend(fields);
                }
            }
            Err(ToolError { code, message, hint }) => {
                let mut error = json!({"code": code.name(), "message": message});
                if let (Value::Object(error), Some(hint)) = (&mut error, hint) {
                    error.insert("hint".to_owned(), hint.into());
                }
                result.insert("error".to_owned(), error);
            }
        }
        results.push(Value::Object(result));
    }
    structured.insert("results".to_owned(), results.into());
    text.push_str(&render::redaction_note(redacted));
    Ok(Reply {
        form: Form::Calls,
        text,
        colors: false,
        images: Vec::new(),
        structured: Value::Object(structured),
        notices,
        redacted,
        full_text: None,
    })
}

/// The answer of a wait: the one that ended it, else the first that timed out, with remarks on the other servers.
pub(super) fn first(ends: WaitEnds) -> Result<Reply, ToolError> {
    let WaitEnds { winner, timed_out, failed, silent } = ends;
    let is_won = winner.is_some();
    let mut timed_out = timed_out.into_iter();
    let Some(FleetPart { server, answer: Ok(mut reply), .. }) = winner.or_else(|| timed_out.next())
    else {
        return Err(all_failed(&failed));
    };
    let mut remarks = Vec::new();
    // If a condition held, the other waits have no end of their own.
    if !is_won {
        let others: Vec<String> = timed_out.map(|part| part.server).collect();
        remarks
            .extend((!others.is_empty()).then(|| format!("timed out too: {}", shorten(&others))));
        remarks.extend((!silent.is_empty()).then(|| format!("no answer: {}", shorten(&silent))));
    }
    for FleetPart { server, answer, .. } in &failed {
        if let Err(ToolError { code, message, .. }) = answer {
            let message: String = inline(message).chars().take(MAX_REMARK_CHARS).collect();
            remarks.push(format!("not watched: {server} ({}: {message})", code.name()));
        }
    }
    if !remarks.is_empty() {
        let remarks = remarks.join(" · ");
        // Before the text from the terminal, which could forge it.
        reply.text.insert_str(0, &format!("{remarks}\n"));
        if let Value::Object(fields) = &mut reply.structured {
            let note = match fields.get("note").and_then(Value::as_str) {
                Some(note) => format!("{note} · {remarks}"),
                None => remarks,
            };
            fields.insert("note".to_owned(), note.into());
        }
    }
    reply.text.insert_str(0, &call_server::heading(&server));
    Ok(reply)
}

/// The error of a call that has failed on all servers.
fn all_failed(parts: &[FleetPart]) -> ToolError {
    let errors = || parts.iter().filter_map(|part| part.answer.as_ref().err());
    let Some(first) = errors().next() else {
        return ToolError::internal("a call on several servers without an answer");
    };
    let mut error = first.clone();
    if errors().all(|other| other == first) {
        let names: Vec<&str> = parts.iter().map(|part| part.server.as_str()).collect();
        error.message = format!("on {}: {}", shorten(&names), first.message);
        return error;
    }
    error.message = format!("failed on all {} servers", parts.len());
    for (part, failed) in parts.iter().zip(errors()) {
        let ToolError { code, message, .. } = failed;
        error.message.push_str(&format!("\n{}: {}: {message}", part.server, code.name()));
    }
    error
}
