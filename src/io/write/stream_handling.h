#pragma once
// Decides how an output treats the input streams, except the denoised stream.

#include "io/encode/encoder_choice.h"

namespace lull::io {

enum class StreamHandling {
  copied,
  as_file,      // becomes an attachment of Matroska
  as_cover,     // a cover picture that becomes an attachment
  converted,    // text subtitles, uncompressed audio
  regenerated,  // the muxer writes it from metadata
  dropped,      // dropped at the user's request
  omitted,      // dropped with a warning, because the container cannot store it
  refused,      // an error: the output cannot be opened
};

/// Returns how the output treats the stream `stream`. The output must not be a still picture.
StreamHandling handling_of(const AVStream& stream, const Container& container);

/// Returns the reason why the output omits a stream that the container could store with other
/// options; empty if the container cannot store the stream at all.
std::string reason_of_omission(const AVStream& stream, const Container& container);

/// Returns the codec that a converted stream has in the container.
AVCodecID converted_codec(const AVStream& stream, const Container& container);

/// Returns whether the user excluded the stream from the output by listing it in `drops`.
bool is_dropped(const AVStream& stream, const Drops& drops);

/// Checks the stream indices in `drops`.
/// @throws InvalidArgument  the input does not have such a stream, or the stream is the denoised
///     stream
void check_drops(const Drops& drops, const FileSource& source);

/// Throws the error that the container cannot store some streams. The message is `text`, or a
/// description of the input's damage if this damage may be the reason.
/// @throws BadData  damage of the input may be the reason
/// @throws InvalidArgument  in all other cases
[[noreturn]] void refuse_streams(const FileSource& source, const Drops& drops,
                                 const std::string& text);

}  // namespace lull::io
