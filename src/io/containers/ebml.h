#pragma once
// Numbers of EBML (RFC 8794), the form of Matroska's files.

#include <cstdint>

#include "io/files/file_bytes.h"

namespace lull::io {

struct EbmlNumber {
  std::uint64_t value = 0;
  int bytes = 0;
  bool unknown = false;  // all ones: a size that the writer did not know
};

/// A number of variable length at `at`; false if there is none. With `keep_marker`, the bit that
/// says the length stays in the value, as in the numbers of elements.
bool read_ebml_number(FileBytes& file, std::uint64_t at, bool keep_marker, EbmlNumber& number);

/// The number and the size of an element.
struct EbmlElement {
  std::uint64_t id = 0;
  std::uint64_t data = 0;  // where its data begin
  std::uint64_t size = 0;  // of the data
  bool unknown_size = false;
  std::uint64_t end() const { return data + size; }
};

/// The element at `at`; false if there is none.
bool read_ebml_element(FileBytes& file, std::uint64_t at, EbmlElement& element);

}  // namespace lull::io
