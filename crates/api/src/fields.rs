//! Parsing of fields in JSON bodies and query strings.

use std::fmt;
use std::marker::PhantomData;

use percent_encoding::percent_decode_str;
use roadmap_domain::error::{FieldError, FieldProblem, Validated};
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::parse_uuid;
use roadmap_domain::model::operation_key::OperationKey;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::text::truncate;
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, Expected, IntoDeserializer, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::{Map, Value};
use serde_path_to_error::Segment;
use uuid::Uuid;

/// A JSON object. A derived struct alone would also accept an array of its fields.
#[derive(Debug)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for MapVisitor<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(MapVisitor(PhantomData))
    }
}

/// Distinguishes a null field from an absent one, for fields where null is an error or means an empty value.
///
/// # Errors
/// Those of the field's own type.
pub fn double_option<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Returns a text of [`double_option`] as the domain takes it: the outer `None` was not sent, the inner one was null.
#[must_use]
pub fn sent(text: &Option<Option<String>>) -> Option<Option<&str>> {
    text.as_ref().map(Option::as_deref)
}

/// A position in a list, from 1. Any integer of at least 1, also one that is written with a fraction of zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position(pub u64);

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IntegerVisitor;

        impl Visitor<'_> for IntegerVisitor {
            type Value = Position;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer of at least 1")
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Position, E> {
                let is_valid = value >= 1;
                is_valid.then_some(Position(value)).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Position, E> {
                let is_valid = value >= 1.0 && value.fract() == 0.0;
                // Positions after the last one are all the same.
                let position = || Position(format!("{value:.0}").parse().unwrap_or(u64::MAX));
                is_valid.then(position).ok_or_else(|| E::invalid_value(Unexpected::Float(value), &self))
            }
        }

        deserializer.deserialize_any(IntegerVisitor)
    }
}

/// Deserializes a body into a struct of optional fields. Unknown fields are ignored.
///
/// # Errors
/// A field of another JSON type, with the name of the innermost field and, in a list, the index of the item: `tags[0]`.
pub fn body<B: DeserializeOwned>(body: Map<String, Value>) -> Validated<B> {
    serde_path_to_error::deserialize(JsonInput(Value::Object(body))).map_err(|error| {
        let mut field = "body".to_owned();
        for segment in error.path() {
            match segment {
                Segment::Map { key } => field = key.clone(),
                Segment::Seq { index } => field.push_str(&format!("[{index}]")),
                _ => {}
            }
        }
        let expected = match error.into_inner().expected {
            // serde's term is not a JSON term.
            Some(expected) if expected == "a sequence" => "a list".to_owned(),
            Some(expected) => expected,
            None => "valid".to_owned(),
        };
        FieldError { field, problem: FieldProblem::WrongType { expected } }
    })
}

/// A value of the wrong type, with the expected type. serde_json's own error has it only in its message.
#[derive(Debug)]
struct TypeMismatch {
    /// The expected type's own description, if the type was the problem.
    expected: Option<String>,
}

impl fmt::Display for TypeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not {}", self.expected.as_deref().unwrap_or("valid"))
    }
}

impl std::error::Error for TypeMismatch {}

impl de::Error for TypeMismatch {
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Self { expected: None }
    }

    fn invalid_type(_unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self { expected: Some(expected.to_string()) }
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }
}

/// A deserializer of a JSON value with [`TypeMismatch`] as its error.
struct JsonInput(Value);

impl<'de> Deserializer<'de> for JsonInput {
    type Error = TypeMismatch;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeMismatch> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), _, _) => visitor.visit_u64(value),
                (None, Some(value), _) => visitor.visit_i64(value),
                (None, None, Some(value)) => visitor.visit_f64(value),
                (None, None, None) => Err(de::Error::invalid_type(Unexpected::Other("number"), &visitor)),
            },
            Value::String(value) => visitor.visit_string(value),
            Value::Array(values) => SeqDeserializer::new(values.into_iter().map(JsonInput)).deserialize_any(visitor),
            Value::Object(fields) => {
                MapDeserializer::new(fields.into_iter().map(|(name, value)| (name, JsonInput(value))))
                    .deserialize_any(visitor)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeMismatch> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TypeMismatch> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, TypeMismatch> for JsonInput {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Parses an optional UUID. A blank one counts as absent.
///
/// # Errors
/// Any other text.
pub fn optional_uuid(field: &str, raw: Option<&str>) -> Validated<Option<Uuid>> {
    raw.filter(|raw| !raw.trim().is_empty()).map(|raw| parse_uuid(field, raw)).transpose()
}

/// Returns the operation key of a body. An absent, null or blank value means no key.
///
/// # Errors
/// The value is not a string, or longer than a key may be.
pub fn operation_key(body: &Map<String, Value>) -> Validated<Option<OperationKey>> {
    match body.get(OperationKey::FIELD) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(raw)) => OperationKey::parse(raw),
        Some(_) => {
            Err(FieldError::new(OperationKey::FIELD, FieldProblem::WrongType { expected: "a string".to_owned() }))
        }
    }
}

/// How much of the name of an unknown parameter an error shows, in characters.
const MAX_NAME_LENGTH: usize = 100;

/// The parameters of a query string, in the encoding of HTML forms. The last of repeated parameters counts.
#[derive(Debug)]
pub struct Query(Vec<(String, Option<String>)>);

impl Query {
    /// Parses a query string. Malformed values are reported only by [`Query::get`], so that unused parameters cause no
    /// error.
    #[must_use]
    pub fn parse(raw: &str) -> Self {
        let pairs = raw.split('&').filter(|pair| !pair.is_empty()).filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((percent_decoded(name)?, percent_decoded(value)))
        });
        Self(pairs.collect())
    }

    /// Returns the value of a parameter, if it was sent.
    ///
    /// # Errors
    /// The value is not UTF-8.
    pub fn get(&self, name: &str) -> Validated<Option<&str>> {
        match self.0.iter().rev().find(|(sent, _)| sent == name) {
            None => Ok(None),
            Some((_, Some(value))) => Ok(Some(value)),
            Some((_, None)) => Err(FieldError::new(name, FieldProblem::Malformed { expected: "valid UTF-8" })),
        }
    }

    /// Checks that all parameters with a name are known.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn allow_only(&self, known: &[&str]) -> Validated<()> {
        match self.0.iter().find(|(name, _)| !name.is_empty() && !known.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) => {
                let problem = FieldProblem::UnknownParameter { known: known.join(", ") };
                Err(FieldError::new(truncate(name, MAX_NAME_LENGTH), problem))
            }
        }
    }

    /// Returns the address in `email`.
    ///
    /// # Errors
    /// It is missing or invalid.
    pub fn email(&self) -> Validated<EmailAddress> {
        EmailAddress::parse("email", self.get("email")?.unwrap_or_default())
    }

    /// Returns whether a parameter is `true` or `1`. An absent or blank one is false.
    ///
    /// # Errors
    /// Any other value than `true`, `1`, `false` and `0`.
    pub fn flag(&self, name: &str) -> Validated<bool> {
        match self.get(name)?.unwrap_or_default().trim() {
            "true" | "1" => Ok(true),
            "false" | "0" | "" => Ok(false),
            _ => Err(FieldError::new(name, FieldProblem::Malformed { expected: "one of true, false, 1, 0" })),
        }
    }

    /// Returns the UUID in a parameter. A blank one counts as absent.
    ///
    /// # Errors
    /// Any other text.
    pub fn uuid(&self, name: &str) -> Validated<Option<Uuid>> {
        optional_uuid(name, self.get(name)?)
    }

    /// Returns the page that `page` and `page_size` request.
    ///
    /// # Errors
    /// A parameter is not an integer of at least 1.
    pub fn page(&self) -> Validated<PageRequest> {
        PageRequest::parse(self.get("page")?, self.get("page_size")?)
    }

    /// Returns the page that `page` and `page_size` request of a list without cursors. `message` says so.
    ///
    /// # Errors
    /// As [`Self::page`], and a `cursor`.
    pub fn page_without_cursor(&self, message: &'static str) -> Validated<PageRequest> {
        match self.get("cursor")? {
            Some(_) => Err(FieldError::new("cursor", FieldProblem::Custom { message })),
            None => self.page(),
        }
    }

    /// Returns the page that `page`, `page_size` and `cursor` request.
    ///
    /// # Errors
    /// As [`Self::page`], and those of [`PageRequest::with_cursor`].
    pub fn page_of(&self, list: &CursorList) -> Validated<PageRequest> {
        self.page()?.with_cursor(list, self.get("cursor")?)
    }
}

fn percent_decoded(raw: &str) -> Option<String> {
    let spaced = raw.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    struct Sample {
        name: Option<String>,
        flag: Option<bool>,
        list: Option<Vec<String>>,
        lists: Option<Vec<Vec<String>>>,
        inner: Option<Object<Inner>>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        email: Option<String>,
    }

    fn read(value: Value) -> Validated<Sample> {
        let Value::Object(map) = value else { panic!("an object") };
        body(map)
    }

    #[test]
    fn fields_are_optional_and_others_are_ignored() {
        let sample =
            read(json!({"name": "n", "flag": null, "list": ["a"], "inner": {"email": "e"}, "more": 1})).unwrap();
        assert_eq!(sample.name.as_deref(), Some("n"));
        assert_eq!((sample.flag, sample.lists), (None, None));
        assert_eq!(sample.list, Some(vec!["a".to_owned()]));
        assert_eq!(sample.inner.unwrap().0.email.as_deref(), Some("e"));
    }

    /// Decision 2.
    #[test]
    fn a_wrong_type_names_the_field() {
        for (body, message) in [
            (json!({"name": 5}), "name must be a string"),
            (json!({"name": ["a"]}), "name must be a string"),
            (json!({"flag": "true"}), "flag must be a boolean"),
            (json!({"list": "a"}), "list must be a list"),
            (json!({"list": ["a", 1]}), "list[1] must be a string"),
            (json!({"list": [null]}), "list[0] must be a string"),
            (json!({"lists": [["a"], "b"]}), "lists[1] must be a list"),
            (json!({"lists": [["a"], ["b", {}]]}), "lists[1][1] must be a string"),
            (json!({"inner": "a"}), "inner must be an object"),
            (json!({"inner": ["e"]}), "inner must be an object"),
            (json!({"inner": {"email": {}}}), "email must be a string"),
        ] {
            assert_eq!(read(body.clone()).unwrap_err().to_string(), message, "{body}");
        }
    }

    /// A type whose description contains a word of error messages.
    #[derive(Debug, PartialEq)]
    struct Colour;

    impl<'de> Deserialize<'de> for Colour {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Named;

            impl Visitor<'_> for Named {
                type Value = Colour;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("one of the expected colours")
                }
            }

            deserializer.deserialize_str(Named)
        }
    }

    #[derive(Debug, Deserialize)]
    struct Painted {
        #[expect(dead_code, reason = "reading it is what is tested")]
        colour: Option<Colour>,
    }

    #[test]
    fn the_expected_type_is_not_parsed_from_a_message() {
        for value in [json!("red, expected blue"), json!(1), json!({ "expected": "red" }), json!(["expected red"])] {
            let Value::Object(sent) = json!({ "colour": value }) else { panic!("an object") };
            let refused = body::<Painted>(sent).unwrap_err();
            assert_eq!(refused.to_string(), "colour must be one of the expected colours", "{value}");
        }
    }

    /// Decision 5.
    #[test]
    fn an_operation_key_is_a_string_or_absent() {
        let key = |value: Value| {
            let Value::Object(map) = json!({ "operation_key": value }) else { panic!("an object") };
            operation_key(&map)
        };
        assert_eq!(key(json!(null)).unwrap(), None);
        assert_eq!(key(json!(" ")).unwrap(), None);
        assert_eq!(key(json!("k")).unwrap().unwrap().as_str(), "k");
        for value in [json!(1), json!(true), json!([]), json!({})] {
            assert_eq!(key(value).unwrap_err().to_string(), "operation_key must be a string");
        }
        assert_eq!(operation_key(&Map::new()).unwrap(), None);
    }

    #[test]
    fn query_strings_are_decoded_strictly() {
        let query = Query::parse("query=dark+mode%21&page=1&page=2&empty=&bare&&%66=g&bad=%ff&%ff=1&odd=%zz");
        for (name, value) in [
            ("query", Some("dark mode!")),
            ("page", Some("2")),
            ("empty", Some("")),
            ("bare", Some("")),
            ("f", Some("g")),
            ("odd", Some("%zz")),
            ("none", None),
        ] {
            assert_eq!(query.get(name).unwrap(), value, "{name}");
        }
        assert_eq!(query.get("bad").unwrap_err().to_string(), "bad is not valid UTF-8");
        assert_eq!(Query::parse("bad=%ff&bad=1").get("bad").unwrap(), Some("1"));
    }

    #[test]
    fn a_position_is_a_positive_integer() {
        let position = |value: Value| {
            let Value::Object(sent) = json!({ "position": value }) else { panic!("an object") };
            body::<Placed>(sent).map(|placed| placed.position)
        };
        for (value, expected) in [
            (json!(null), None),
            (json!(1), Some(Position(1))),
            (json!(2.0), Some(Position(2))),
            (json!(u64::MAX), Some(Position(u64::MAX))),
            (json!(1e30), Some(Position(u64::MAX))),
        ] {
            assert_eq!(position(value.clone()).unwrap(), expected, "{value}");
        }
        for value in [json!(0), json!(-1), json!(0.0), json!(1.5), json!("1"), json!(true), json!([1]), json!({})] {
            let error = position(value.clone()).unwrap_err();
            assert_eq!(error.to_string(), "position must be an integer of at least 1", "{value}");
        }
    }

    #[derive(Debug, Deserialize)]
    struct Placed {
        position: Option<Position>,
    }

    #[test]
    fn flags_and_ids_of_queries_may_be_blank() {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        let query = Query::parse(&format!("a=true&b=1&c=false&d=0&e=&f=+&g=yes&h=%ff&i={id}&j=x"));
        for (name, expected) in [("a", true), ("b", true), ("c", false), ("d", false), ("e", false), ("f", false)] {
            assert_eq!(query.flag(name).unwrap(), expected, "{name}");
        }
        assert!(!query.flag("none").unwrap());
        assert_eq!(query.flag("g").unwrap_err().to_string(), "g is not one of true, false, 1, 0");
        assert_eq!(query.flag("h").unwrap_err().to_string(), "h is not valid UTF-8");
        assert_eq!(query.uuid("i").unwrap().unwrap().to_string(), id);
        assert_eq!(
            (query.uuid("e").unwrap(), query.uuid("f").unwrap(), query.uuid("none").unwrap()),
            (None, None, None)
        );
        assert_eq!(query.uuid("j").unwrap_err().to_string(), "j is not a valid UUID");
    }

    /// Decision 4.
    #[test]
    fn an_unknown_parameter_is_named() {
        for (raw, unknown) in [
            ("", None),
            ("a=1&b=%ff&a", None),
            ("q=dark", Some("q")),
            ("a=1&A=1&q=1", Some("A")),
            ("b&c", Some("c")),
            ("%61=1&%71=1", Some("q")),
            ("=1&=&&", None),
        ] {
            let checked = Query::parse(raw).allow_only(&["a", "b"]).map_err(|error| error.to_string());
            let message = |name: &str| format!("{name} is not one of the parameters a, b");
            assert_eq!(checked.err(), unknown.map(message), "{raw}");
        }
        let long = Query::parse(&"x".repeat(60_000)).allow_only(&[]).unwrap_err();
        assert_eq!(long.field.chars().count(), 100);
    }

    #[test]
    fn the_address_of_a_query_is_required() {
        assert_eq!(Query::parse("email=Ann%40example.com").email().unwrap().as_str(), "Ann@example.com");
        for (raw, message) in [
            ("", "param is missing or the value is empty or invalid: email"),
            ("email=+", "param is missing or the value is empty or invalid: email"),
            ("email=%ff", "email is not valid UTF-8"),
        ] {
            assert_eq!(Query::parse(raw).email().unwrap_err().to_string(), message);
        }
    }

    /// Any JSON, up to four levels deep, often with the names of fields.
    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "(?s).{0,20}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let names = "name|flag|list|inner|email|operation_key|.{0,5}";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((names, inner), 0..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    fn json_object() -> impl Strategy<Value = Map<String, Value>> {
        let names = "name|flag|list|inner|operation_key|.{0,5}";
        prop::collection::vec((names, json_value()), 0..6).prop_map(|fields| fields.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn any_json_is_accepted_or_rejected_by_field_name(sent in json_object()) {
            let fits = |name: &str, is: fn(&Value) -> bool| sent.get(name).is_none_or(|value| value.is_null() || is(value));
            let list = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
            let inner = |value: &Value| {
                value.as_object().is_some_and(|inner| inner.get("email").is_none_or(|email| email.is_null() || email.is_string()))
            };
            let good = fits("name", Value::is_string) && fits("flag", Value::is_boolean) && fits("list", list) && fits("inner", inner);
            match body::<Sample>(sent.clone()) {
                Ok(_) => prop_assert!(good, "{:?}", sent),
                Err(FieldError { field, problem }) => {
                    prop_assert!(!good, "{:?}", sent);
                    let name = field.split('[').next().unwrap_or_default();
                    prop_assert!(["name", "flag", "list", "inner", "email"].contains(&name), "{} of {:?}", field, sent);
                    prop_assert!(matches!(problem, FieldProblem::WrongType { .. }), "{:?}", problem);
                }
            }
        }

        #[test]
        fn an_operation_key_is_accepted_or_rejected_by_name(sent in json_object()) {
            if let Err(error) = operation_key(&sent) {
                prop_assert_eq!(error.field, "operation_key");
            }
        }

        #[test]
        fn any_query_is_accepted_or_rejected_by_parameter_name(raw in "(?s).{0,60}|([a-c=&+%0-9f]|page){0,40}") {
            let query = Query::parse(&raw);
            for name in ["a", "page", "page_size", ""] {
                if let Err(error) = query.get(name) {
                    prop_assert_eq!(error.field, name);
                }
            }
            if let Err(error) = query.page() {
                prop_assert!(["page", "page_size"].contains(&error.field.as_str()), "{}", error.field);
            }
        }
    }
}
