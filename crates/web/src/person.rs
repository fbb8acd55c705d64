//! The data of a person as a file, and the choice of what becomes of the texts of somebody who is erased.

use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::person::{ErasedTexts, ExportOptions};
use roadmap_domain::usecase::erase_customer::RecordExport;
use roadmap_domain::usecase::query::people::ExportPerson;

use crate::actions::execute;
use crate::admin::missing_record_as_404;
use crate::context::Context;
use crate::form::Fields;
use crate::reply::{PageResult, Reply};

/// Returns the data of a customer as a file. The audit log records it.
///
/// # Errors
/// 404 if there is no such customer.
pub(crate) async fn file(context: &Context, customer: CustomerId, options: ExportOptions) -> PageResult {
    let query = ExportPerson { customer: Some(customer), options, links: context.links.clone() };
    let export = context.run(&query).await?;
    // Text in memory is always JSON.
    let json = serde_json::to_string_pretty(&export).unwrap_or_default();
    let recorded = execute(context, RecordExport { customer }).await;
    let file = move |()| Reply::file("application/json", &format!("customer-{customer}.json"), json);
    missing_record_as_404(recorded.map(file))
}

/// Returns what becomes of texts, as a form has chosen.
pub(crate) fn texts(fields: &Fields) -> ErasedTexts {
    ErasedTexts::ALL.into_iter().find(|texts| texts.name() == fields.get("texts")).unwrap_or_default()
}
