//! Pictures for the previews of links in chats (Open Graph, `og:image`).

use bytes::Bytes;

use crate::model::portal::Color;

/// Width of a picture in pixels.
pub const WIDTH: u32 = 1_200;

/// Height of a picture in pixels.
pub const HEIGHT: u32 = 630;

/// What a picture shows. All texts are in the language of the portal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    pub product_name: String,
    /// The file of the workspace's logo. Without one that can be read, the picture has the first letter of the product's
    /// name.
    pub logo: Option<Bytes>,
    pub accent: Color,
    /// The title of the page. It is left out if it has letters that cannot be drawn: chats show it as text beside the picture.
    pub title: String,
    /// The number of votes, in words.
    pub votes: Option<String>,
    /// The public status, with its colour.
    pub status: Option<(String, Color)>,
    /// Whether the language of the portal is written from right to left.
    pub is_right_to_left: bool,
}
