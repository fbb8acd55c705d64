//! What is read of all files before anything is written.

use super::fields::{change_comment, id_or_digest, name_of, request_of};
use super::file::{Context, Kinds, RecordKind, SourceFile, refusal, trimmed};
use super::people;
use super::run::{Converted, Run};
use super::{CannyError, detect_encoding};
use crate::archive::Input;
use crate::encoding::Evidence;
use crate::json::{Element, JsonError, Object, Value};
use crate::records::{Action, Problem};
use crate::sources::csv::values::line;
use crate::sources::quotes::{Quote, quoted};
use crate::visible;

/// What a file has.
#[derive(Default)]
struct Survey {
    kinds: Kinds,
    /// Records of no known kind.
    unknown: u64,
    /// Whether there are elements of lists without a name that cannot be read.
    has_unreadable: bool,
    /// Values of the file itself that cannot be read.
    unreadable_pages: u64,
    /// Why the file is not of Canny, if that is so.
    refusal: Option<CannyError>,
}

impl Run<'_> {
    /// Reads all files once, and finds out which are of Canny.
    pub(super) fn read_ahead<'b>(&mut self, inputs: &'b [Input]) -> Result<Vec<SourceFile<'b>>, CannyError> {
        let mut files = Vec::new();
        let mut first_error = None;
        for (index, input) in inputs.iter().enumerate() {
            match self.read_file_ahead(index, input)? {
                Ok(file) => files.push(file),
                Err(error) if inputs.len() == 1 => return Err(error),
                Err(error) => {
                    let problem = match &error {
                        CannyError::OtherSource { looks_like, .. } => {
                            format!("the file is not of the list calls of Canny: it looks like {looks_like}")
                        }
                        _ => "the file has no list of Canny".to_owned(),
                    };
                    self.report(Problem::new(input.name(), problem, Action::Skipped))?;
                    first_error.get_or_insert(error);
                }
            }
        }
        self.shared_category =
            self.shared.take().filter(|_| self.requests > 1).and_then(|shared| shared.into_iter().next());
        // The ids of votes are found again when votes are converted.
        self.remembered.ids.clear();
        match first_error {
            Some(error) if files.is_empty() => Err(error),
            _ => Ok(files),
        }
    }

    /// Reads a file once. The inner error is that of a file that can be left out.
    fn read_file_ahead<'b>(
        &mut self,
        index: usize,
        input: &'b Input,
    ) -> Result<Result<SourceFile<'b>, CannyError>, CannyError> {
        let read_error =
            |source| CannyError::Json { file: visible(input.name(), 200), problem: JsonError::Read(source) };
        let encoding = detect_encoding(input, self.options).map_err(read_error)?;
        let mut file = SourceFile { index, input, encoding, kinds: Kinds::default(), has_lists: false };
        let mut survey = Survey::default();
        let read = file.read(|element| {
            self.survey(&file, &element, &mut survey)?;
            self.check_memory()
        });
        let lists = match read {
            Ok(lists) => lists,
            Err(CannyError::Json { problem, .. })
                if survey.kinds.is_empty() && !has_json_name(input) && !matches!(problem, JsonError::Read(_)) =>
            {
                return Ok(Err(if is_table_by_name(input) {
                    let looks_like = "a table, which the source `csv` reads";
                    CannyError::OtherSource { file: visible(input.name(), 200), looks_like }
                } else {
                    file.error(problem)
                }));
            }
            Err(error) => return Err(error),
        };
        file.has_lists = !lists.is_empty();
        if survey.has_unreadable && survey.kinds.has_only_boards() && survey.unknown == 0 {
            survey.kinds.add(RecordKind::Post);
        }
        if file.has_lists {
            survey.unknown += survey.unreadable_pages;
        }
        if survey.kinds.is_empty() && (survey.unknown > 0 || !file.has_lists) {
            return Ok(Err(survey.refusal.unwrap_or_else(|| refusal(input, None))));
        }
        self.lose("records of an unknown kind", survey.unknown);
        if encoding.evidence == Evidence::Guessed {
            let warning =
                "the encoding is not known, so the file is read as windows-1252: --encoding names another one";
            self.report(file.problem(warning, Action::Changed))?;
        }
        file.kinds = survey.kinds;
        Ok(Ok(file))
    }

    /// Finds out what an element is, and what others need of it.
    fn survey(&mut self, file: &SourceFile<'_>, element: &Element<'_>, survey: &mut Survey) -> Converted {
        let text = match &element.text {
            Ok(text) => *text,
            Err(problem) => {
                match element.list.and_then(RecordKind::of_list) {
                    Some(RecordKind::Board) => {
                        survey.kinds.add(RecordKind::Board);
                        let problem = format!("{problem}: the board is not known");
                        self.report(file.problem(problem, Action::Ignored).in_line(element.line))?;
                    }
                    Some(kind) => survey.kinds.add(kind),
                    None if element.is_listed => survey.has_unreadable = true,
                    None => survey.unreadable_pages += 1,
                }
                return Ok(());
            }
        };
        let object = Object::parse(text).unwrap_or_default();
        let Some(kind) = RecordKind::of(element.list, &object) else {
            survey.unknown += 1;
            survey.refusal.get_or_insert_with(|| refusal(file.input, Some(&object)));
            return Ok(());
        };
        survey.kinds.add(kind);
        let original = element.original.unwrap_or_default();
        self.look_ahead(&Context { file, line: element.line, kind, original, object: &object })
    }

    /// Remembers of a record what the conversion of others needs.
    fn look_ahead(&mut self, context: &Context<'_>) -> Converted {
        match context.kind {
            RecordKind::Board => self.look_at_board(context)?,
            RecordKind::Post => self.look_at_post(context),
            RecordKind::Vote => self.look_at_vote(context),
            RecordKind::Comment => {
                if let Some(parent) = context.text("parentID") {
                    let parent = self.remembered.hash(&*parent);
                    self.remembered.quotes.add_parent(parent);
                }
            }
            RecordKind::StatusChange => {
                if let Some(request) = request_of(context.object) {
                    let (body, _) = change_comment(context.object);
                    if !body.trim().is_empty() {
                        let comment = self.remembered.hash((&*request, body.trim()));
                        self.remembered.change_comments.insert(comment);
                    }
                }
            }
            RecordKind::Entry => {}
        }
        Ok(())
    }

    fn look_at_board(&mut self, context: &Context<'_>) -> Converted {
        let Some(id) = context.text("id") else { return Ok(()) };
        let is_private = self.read_flag(context, Some(&id), "isPrivate")?;
        let has_private_comments = self.read_flag(context, Some(&id), "privateComments")?;
        let board = self.remembered.hash(&*id);
        let board = self.remembered.boards.entry(board).or_default();
        board.is_private |= is_private;
        board.has_private_comments |= has_private_comments;
        Ok(())
    }

    fn look_at_post(&mut self, context: &Context<'_>) {
        let Some(title) = context.text("title").and_then(|title| line(&title)) else { return };
        let id = id_or_digest(context, &title);
        let request = self.remembered.hash(&*id);
        if self.remembered.requests.insert(request, false).is_some() {
            return;
        }
        for merged in context.get("mergeHistory").array().into_iter().flatten().filter_map(Value::object) {
            if let Some(merged) = request_of(&merged) {
                self.remembered.merge(&merged, &id);
            }
        }
        self.requests += 1;
        let found = [context.get("board"), context.get("category")].into_iter().filter_map(name_of);
        self.shared = Some(match self.shared.take() {
            None => found.collect(),
            Some(before) => {
                let found: Vec<String> = found.collect();
                before.into_iter().filter(|category| found.contains(category)).collect()
            }
        });
    }

    fn look_at_vote(&mut self, context: &Context<'_>) {
        let Some(request) = request_of(context.object) else { return };
        if !self.is_first(context) {
            return;
        }
        let is_usable = people::find(context.object, "voter", "voterID").person.is_some();
        let request = self.remembered.hash(&*request);
        let listed = self.remembered.listed.entry(request).or_default();
        listed.entries = listed.entries.saturating_add(1);
        listed.unusable = listed.unusable.saturating_add(u32::from(!is_usable));
    }

    /// Finds what replies quote of the comments that they reply to.
    pub(super) fn find_quotes(&mut self, files: &[SourceFile<'_>]) -> Converted {
        if !self.remembered.quotes.has_parents() {
            return Ok(());
        }
        for file in files.iter().filter(|file| file.has(RecordKind::Comment)) {
            file.read(|element| {
                let Some(object) = element.text.ok().and_then(Object::parse) else { return Ok(()) };
                if RecordKind::of(element.list, &object) != Some(RecordKind::Comment) {
                    return Ok(());
                }
                let Some(id) = trimmed(object.get("id")).map(|id| self.remembered.hash(&*id)) else { return Ok(()) };
                if self.remembered.quotes.is_parent(id) {
                    let text = object.get("value").text().and_then(|text| quoted(&text)).unwrap_or_default();
                    let quote = Quote { text, is_private: self.is_private_comment(&object) };
                    self.remembered.quotes.add(id, quote, self.options.max_records);
                }
                Ok(())
            })?;
        }
        self.lose("quotes of comments that have replies", self.remembered.quotes.left_out());
        Ok(())
    }
}

fn has_json_name(input: &Input) -> bool {
    has_extension(input, &["json", "jsonl", "ndjson"])
}

fn is_table_by_name(input: &Input) -> bool {
    has_extension(input, &["csv", "tsv", "tab"])
}

fn has_extension(input: &Input, extensions: &[&str]) -> bool {
    let extension = input.name().rsplit_once('.').map_or("", |(_, extension)| extension);
    extensions.iter().any(|known| extension.eq_ignore_ascii_case(known))
}
