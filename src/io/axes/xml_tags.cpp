#include "io/axes/xml_tags.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace lull::io {
namespace {

constexpr std::string_view xml_spaces = " \t\r\n";

void append_utf8(std::string& to, std::uint32_t code) {
  if (code < 0x80) {
    to += static_cast<char>(code);
    return;
  }
  const int continuations = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned first_bytes[] = {0xc0, 0xe0, 0xf0};
  to += static_cast<char>(first_bytes[continuations - 1] | code >> 6 * continuations);
  for (int i = continuations; i-- > 0;) to += static_cast<char>(0x80 | (code >> 6 * i & 0x3f));
}

/// Decodes the character reference at the start of `text`, such as "&#181;" or "&#xB5;", and
/// appends the character to `to`. Returns the length of the reference; 0 if there is no valid
/// reference.
std::size_t decode_reference(std::string_view text, std::string& to) {
  if (!text.starts_with("&#")) return 0;
  const int base = text.substr(2).starts_with('x') ? 16 : 10;
  const char* const end = text.data() + text.size();
  std::uint32_t code = 0;
  const auto [stop, error] = std::from_chars(text.data() + (base == 16 ? 3 : 2), end, code, base);
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (error != std::errc() || stop == end || *stop != ';' || code == 0 || code > 0x10ffff ||
      is_surrogate)
    return 0;
  append_utf8(to, code);
  return static_cast<std::size_t>(stop + 1 - text.data());
}

std::string without_entities(std::string_view text) {
  constexpr std::pair<std::string_view, char> entities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string plain;
  while (!text.empty()) {
    if (const std::size_t length = decode_reference(text, plain); length > 0) {
      text.remove_prefix(length);
      continue;
    }
    std::size_t length = 1;
    char c = text.front();
    for (const auto& [entity, character] : entities)
      if (text.starts_with(entity)) length = entity.size(), c = character;
    plain += c;
    text.remove_prefix(length);
  }
  return plain;
}

/// Removes the namespace prefix from a name such as "ome:Pixels".
std::string_view local_name(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

/// Returns the position of the '>' that ends a tag; npos if there is none. A '>' inside quotes does
/// not end a tag.
std::size_t end_of_tag(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0)
      quote = c == quote ? '\0' : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '>')
      return i;
  }
  return text.npos;
}

}  // namespace

std::optional<std::string> XmlTag::attribute(std::string_view wanted) const {
  std::string_view rest = attributes;
  for (;;) {
    const std::size_t begin = rest.find_first_not_of(xml_spaces);
    if (begin == rest.npos) return std::nullopt;
    rest.remove_prefix(begin);
    const std::size_t equals = rest.find('=');
    if (equals == rest.npos) return std::nullopt;
    std::string_view name = rest.substr(0, equals);
    name = name.substr(0, name.find_first_of(xml_spaces));
    rest.remove_prefix(equals + 1);
    const std::size_t open = rest.find_first_not_of(xml_spaces);
    if (open == rest.npos || (rest[open] != '"' && rest[open] != '\'')) return std::nullopt;
    const std::size_t close = rest.find(rest[open], open + 1);
    if (close == rest.npos) return std::nullopt;
    if (name == wanted) return without_entities(rest.substr(open + 1, close - open - 1));
    rest.remove_prefix(close + 1);
  }
}

std::optional<std::int64_t> XmlTag::number(std::string_view wanted, std::int64_t otherwise) const {
  const std::optional<std::string> value = attribute(wanted);
  if (!value) return otherwise;
  std::int64_t number = 0;
  const char* const end = value->data() + value->size();
  const auto [stop, error] = std::from_chars(value->data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

void XmlTags::skip_past(std::string_view end) {
  const std::size_t at = rest_.find(end);
  rest_.remove_prefix(at == rest_.npos ? rest_.size() : at + end.size());
}

std::optional<XmlTag> XmlTags::next() {
  for (;;) {
    const std::size_t open = rest_.find('<');
    if (open == rest_.npos) return std::nullopt;
    rest_.remove_prefix(open + 1);
    if (rest_.starts_with("!--")) {
      skip_past("-->");
    } else if (rest_.starts_with("![CDATA[")) {
      skip_past("]]>");
    } else if (rest_.starts_with("?")) {
      skip_past("?>");
    } else if (rest_.starts_with("!") || rest_.starts_with("/")) {
      skip_past(">");
    } else {
      const std::size_t end = end_of_tag(rest_);
      if (end == rest_.npos) return std::nullopt;
      std::string_view tag = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (tag.ends_with('/')) tag.remove_suffix(1);
      const std::size_t name_end = std::min(tag.find_first_of(xml_spaces), tag.size());
      return XmlTag{.name = local_name(tag.substr(0, name_end)),
                    .attributes = tag.substr(name_end),
                    .text = rest_.substr(0, rest_.find('<'))};
    }
  }
}

}  // namespace lull::io
