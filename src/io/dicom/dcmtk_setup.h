#pragma once
// Prepares DCMTK. Builds without DCMTK do not include this header.

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcfilefo.h>

#include <string>

namespace lull::io {

/// Registers DCMTK's decoders and disables its messages. Further calls have no effect.
/// @throws BadData  DCMTK has no dictionary of attributes
void set_up_dcmtk();

/// Returns all values of an attribute as a string without padding; empty if there is no such
/// attribute. Control characters become spaces, because messages must be one line.
std::string dicom_text(DcmItem& item, const DcmTagKey& tag);

}  // namespace lull::io
