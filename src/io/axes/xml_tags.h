#pragma once
// Reads the tags of an XML text one after the other, up to the first incomplete tag.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lull::io {

/// A start tag. The members refer to the XML text, which must outlive the tag.
struct XmlTag {
  std::string_view name;        // without the prefix of a namespace
  std::string_view attributes;  // text between the name and the end of the tag
  std::string_view text;        // text between this tag and the next one

  /// Returns the decoded value of an attribute; nullopt if the tag does not have the attribute. The
  /// function decodes the predefined entities, such as &amp;.
  std::optional<std::string> attribute(std::string_view wanted) const;
  /// Returns the integer value of an attribute. If the tag does not have the attribute, returns the
  /// argument `otherwise`. Returns nullopt if the value is not an integer.
  std::optional<std::int64_t> number(std::string_view wanted, std::int64_t otherwise) const;
};

class XmlTags {
 public:
  explicit XmlTags(std::string_view text) : rest_(text) {}
  /// Returns the next tag that begins an element, including tags of empty elements. The function
  /// skips comments, processing instructions, CDATA and end tags.
  std::optional<XmlTag> next();

 private:
  void skip_past(std::string_view end);
  std::string_view rest_;
};

}  // namespace lull::io
