#pragma once
// The facts of a job in segments: everything on which the output of the job depends, such as
// settings, the input and versions of libraries.

#include <vector>

#include "io/encode/encoder.h"
#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// Returns the facts of a job. The function reads the complete input to compute its checksum,
/// because name, size and date do not identify the content of a file, and change if a user moves
/// the job. The disk or SHA-256 limits the speed of the function. Denoising takes many times as
/// long.
///
/// A process that encodes segments of a planned job reads only some blocks of the input
/// (sample_digest()). If the digest of these blocks matches the plan, the function uses the
/// checksum in the plan.
/// @throws NoInput  the input cannot be read
std::vector<JobFact> job_facts(const FileSource& source, const Container& container,
                               const SinkOptions& options, const Encoder& encoder);

/// Returns the source of the additional input as a FileSource.
/// @throws InvalidArgument  the source is a stack of slices
const FileSource& file_source_of(const AdditionalSource& additional);

/// Returns the total size of an input's files, and a SHA-256 digest. The digest covers the sizes of
/// the files, and blocks at regular distances in the files.
std::string sample_digest(const FileSource& source);

}  // namespace lull::io
