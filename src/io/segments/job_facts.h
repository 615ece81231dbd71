#pragma once
// Collects the facts of a job in segments: all properties on which the output depends, such as
// settings, input and library versions.

#include <vector>

#include "io/encode/encoder.h"
#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// Returns everything on which the output of a job depends, such as settings, library versions, and
/// a checksum of the complete input. For JobPart::segments, the checksum comes from the plan, if a
/// digest of some blocks of the input (sample_digest()) equals the digest in the plan.
/// @throws NoInput  lull cannot read the input
std::vector<JobFact> job_facts(const FileSource& source, const Container& container,
                               const SinkOptions& options, const Encoder& encoder);

/// Returns the source of an additional input as a FileSource.
/// @throws InvalidArgument  the source is a stack of slices
const FileSource& file_source_of(const AdditionalSource& additional);

/// Returns the total size of an input's files and a SHA-256 of the sizes and of blocks at regular
/// distances.
std::string sample_digest(const FileSource& source);

}  // namespace lull::io
