#pragma once
// Reads the tags of an XML text up to the first incomplete tag.

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

  /// Returns the value of an attribute with decoded entities; nullopt if there is no such
  /// attribute.
  std::optional<std::string> attribute(std::string_view wanted) const;
  /// Returns the integer value of an attribute. Returns the argument `otherwise` for a missing
  /// attribute, and nullopt for a value that is not an integer.
  std::optional<std::int64_t> number(std::string_view wanted, std::int64_t otherwise) const;
};

class XmlTags {
 public:
  explicit XmlTags(std::string_view text) : rest_(text) {}
  /// Returns the next start tag or empty-element tag.
  std::optional<XmlTag> next();

 private:
  void skip_past(std::string_view end);
  std::string_view rest_;
};

}  // namespace lull::io
