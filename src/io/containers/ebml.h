#pragma once
// Reads EBML (RFC 8794), the binary format of Matroska files.

#include <cstdint>

#include "io/files/file_bytes.h"

namespace lull::io {

struct EbmlNumber {
  std::uint64_t value = 0;
  int bytes = 0;
  bool unknown = false;  // all bits are 1: the writer did not know the size
};

/// Reads a variable-length number at the file offset `at`. Returns false if there is none. If
/// `keep_marker` is true, the result includes the length marker, as usual for element IDs.
bool read_ebml_number(FileBytes& file, std::uint64_t at, bool keep_marker, EbmlNumber& number);

/// The identifier and the size of an element.
struct EbmlElement {
  std::uint64_t id = 0;
  std::uint64_t data = 0;  // position of the element's data
  std::uint64_t size = 0;  // size of the element's data
  bool unknown_size = false;
  std::uint64_t end() const { return data + size; }
};

/// Reads the identifier and the size of the element at `at`; returns false on an error.
bool read_ebml_element(FileBytes& file, std::uint64_t at, EbmlElement& element);

}  // namespace lull::io
