#pragma once
// The facts of a job in segments: everything on which its output depends, such as settings, the
// input and versions of libraries.

#include <vector>

#include "io/encode/encoder.h"
#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// Returns the facts of a job, including a checksum of the complete input, because name, size and
/// date do not identify the content of a file. A process that encodes segments of a planned job
/// reads only some blocks of the input. If the digest of these blocks (sample_digest()) equals the
/// digest in the plan, the function uses the checksum in the plan.
/// @throws NoInput  the input cannot be read
std::vector<JobFact> job_facts(const FileSource& source, const Container& container,
                               const SinkOptions& options, const Encoder& encoder);

/// Returns the source of an additional input as a FileSource.
/// @throws InvalidArgument  the source is a stack of slices
const FileSource& file_source_of(const AdditionalSource& additional);

/// Returns a text with the total size of an input's files and a SHA-256. The SHA-256 covers the
/// sizes of the files, and blocks at regular distances.
std::string sample_digest(const FileSource& source);

}  // namespace lull::io
