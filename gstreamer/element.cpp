// The element lulldenoise: GObject type, properties, pads and events. Stream does the work.

#include "gstreamer/element.h"

#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "choose/clip_settings.h"
#include "core/error.h"
#include "gstreamer/caps.h"
#include "gstreamer/output.h"
#include "gstreamer/stream.h"

namespace {

using lull::gstreamer::Output;
using lull::gstreamer::Results;
using lull::gstreamer::Stream;

/// The members of the element that are C++ objects. The lock of the GstObject protects `settings`
/// and the latency; the stream lock of the sink pad protects the stream and the output.
struct ElementState {
  explicit ElementState(GstPad* source) : output(source) {}

  lull::ClipSettings settings;
  std::unique_ptr<Stream> stream;
  Output output;
  GstVideoInfo info{};
  int latency_frames = 0;
  GstClockTime frame_duration = 0;
};

}  // namespace

struct _LullDenoise {
  GstElement parent;
  GstPad *sink, *source;
  ElementState* state;
};

G_DEFINE_TYPE(LullDenoise, lull_denoise, GST_TYPE_ELEMENT)

namespace {

/// A property whose value is stored as a text in ClipSettings.
struct TextProperty {
  const char *name, *nick, *help, *initial;
  std::string lull::ClipSettings::*member;
};

using Settings = lull::ClipSettings;
constexpr TextProperty text_properties[] = {
    {"sigma", "Noise level",
     "Noise level on the 0..255 scale: S, Y:Cb:Cr, or auto, which estimates it "
     "from the first 8 frames",
     "auto", &Settings::sigma},
    {"strength", "Strength", "light, medium, strong, or a factor from 0.1 to 10", "medium",
     &Settings::strength},
    {"preset", "Preset",
     "Profile and temporal radius by one word: veryfast, faster, fast, medium, "
     "slow, slower or veryslow",
     "medium", &Settings::preset},
    {"profile", "Profile", "fast, balanced, high, best or paper; empty: that of the preset", "",
     &Settings::profile},
    {"temporal", "Temporal radius",
     "Search R frames before and after, 0 to 8; auto: that of the "
     "preset or profile",
     "auto", &Settings::temporal},
    {"method", "Method", "bm3d or nlm", "bm3d", &Settings::method},
    {"device", "Device", "auto, cpu, reference, cuda or cuda:N", "auto", &Settings::device}};
constexpr guint threads_property = 100;  // texts have the numbers from 1 on

ElementState& state_of(LullDenoise* self) { return *self->state; }

/// Reports the exception that is being handled as an error of the element.
void report_exception(LullDenoise* self) {
  std::string text = "unknown error";
  try {
    throw;
  } catch (const std::exception& error) {
    text = error.what();
  }
  GST_ELEMENT_ERROR(self, STREAM, FAILED, ("lulldenoise: %s", text.c_str()), (nullptr));
}

/// Stores the latency for queries, and tells the pipeline if it has changed.
void update_latency(LullDenoise* self) {
  ElementState& state = state_of(self);
  constexpr int assumed_rate = 25;  // frames per second, if the caps state no rate
  const int rate = GST_VIDEO_INFO_FPS_N(&state.info), scale = GST_VIDEO_INFO_FPS_D(&state.info);
  const GstClockTime duration = rate > 0
                                    ? gst_util_uint64_scale(GST_SECOND, static_cast<guint64>(scale),
                                                            static_cast<guint64>(rate))
                                    : GST_SECOND / assumed_rate;
  const int frames = state.stream ? state.stream->latency() : 0;
  GST_OBJECT_LOCK(self);
  const bool changed = frames != state.latency_frames || duration != state.frame_duration;
  state.latency_frames = frames;
  state.frame_duration = duration;
  GST_OBJECT_UNLOCK(self);
  if (changed)
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

/// Pushes results downstream. A pool can wait for the buffers before, so each result gets its
/// buffer after the result before it has been pushed.
GstFlowReturn push_results(LullDenoise* self, Results results) {
  GstFlowReturn flow = GST_FLOW_OK;
  for (auto& result : results)
    if (flow == GST_FLOW_OK) flow = state_of(self).output.push(std::move(result));
  return flow;
}

/// Finishes all frames in flight and pushes them downstream.
GstFlowReturn drain_stream(LullDenoise* self) {
  ElementState& state = state_of(self);
  if (!state.stream) return GST_FLOW_OK;
  try {
    Results results = state.stream->drain();
    update_latency(self);
    return push_results(self, std::move(results));
  } catch (...) {
    report_exception(self);
    state.stream.reset();
    return GST_FLOW_ERROR;
  }
}

/// Opens a stream for new caps.
void open_stream(LullDenoise* self, const GstVideoInfo& info) {
  ElementState& state = state_of(self);
  GST_OBJECT_LOCK(self);
  const lull::ClipSettings settings = state.settings;
  GST_OBJECT_UNLOCK(self);
  state.stream.reset();  // frees its memory before the new stream allocates memory
  state.stream = std::make_unique<Stream>(settings, info);
  state.info = info;
  update_latency(self);
}

bool set_caps(LullDenoise* self, GstCaps* caps) {
  ElementState& state = state_of(self);
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return false;
  const bool same = state.stream && gst_video_info_is_equal(&info, &state.info);
  if (!same && drain_stream(self) == GST_FLOW_ERROR) return false;
  try {
    if (!same) open_stream(self, info);
    if (state.output.set_input(caps) != GST_FLOW_NOT_NEGOTIATED) return true;
  } catch (...) {
    report_exception(self);
  }
  state.stream.reset();
  return false;
}

GstFlowReturn chain(GstPad*, GstObject* parent, GstBuffer* taken) {
  auto* self = LULL_DENOISE(parent);
  ElementState& state = state_of(self);
  lull::gstreamer::BufferPtr buffer(taken);
  if (!state.stream) return GST_FLOW_NOT_NEGOTIATED;
  // The frames before and after a discontinuity are not consecutive.
  if (GST_BUFFER_IS_DISCONT(taken))
    if (const GstFlowReturn flow = drain_stream(self); flow != GST_FLOW_OK) return flow;
  try {
    Results finished = state.stream->push(std::move(buffer));
    update_latency(self);
    return push_results(self, std::move(finished));
  } catch (...) {
    report_exception(self);
    state.stream.reset();
    return GST_FLOW_ERROR;
  }
}

gboolean handle_event(GstPad* pad, GstObject* parent, GstEvent* event) {
  auto* self = LULL_DENOISE(parent);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS: {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event, &caps);
      const bool accepted = set_caps(self, caps);  // sends the caps of the results
      gst_event_unref(event);
      return accepted;
    }
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_STREAM_GROUP_DONE:
    case GST_EVENT_GAP:
    case GST_EVENT_EOS:
      drain_stream(self);
      break;
    case GST_EVENT_FLUSH_STOP:
      try {
        if (state_of(self).stream) state_of(self).stream->discard();
      } catch (...) {
        report_exception(self);
        state_of(self).stream.reset();
      }
      break;
    default:
      break;
  }
  return gst_pad_event_default(pad, parent, event);
}

gboolean handle_sink_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
    lull::gstreamer::answer_caps_query(pad, LULL_DENOISE(parent)->source, query);
    return TRUE;
  }
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return gst_pad_query_default(pad, parent, query);
  // Tells the upstream element that lulldenoise reads rows with any stride.
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  return TRUE;
}

gboolean handle_source_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  auto* self = LULL_DENOISE(parent);
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
    lull::gstreamer::answer_caps_query(pad, self->sink, query);
    return TRUE;
  }
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) return gst_pad_query_default(pad, parent, query);
  if (!gst_pad_peer_query(self->sink, query)) return FALSE;
  gboolean live = FALSE;
  GstClockTime min = 0, max = 0;
  gst_query_parse_latency(query, &live, &min, &max);
  GST_OBJECT_LOCK(self);
  // The latency is one frame more than the session holds, for the time that the filter needs.
  const GstClockTime own =
      state_of(self).frame_duration * static_cast<GstClockTime>(state_of(self).latency_frames + 1);
  GST_OBJECT_UNLOCK(self);
  gst_query_set_latency(query, live, min + own, max == GST_CLOCK_TIME_NONE ? max : max + own);
  return TRUE;
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange change) {
  auto* self = LULL_DENOISE(element);
  if (change == GST_STATE_CHANGE_NULL_TO_READY) {
    try {
      (void)lull::choose_clip(state_of(self).settings);
    } catch (const std::exception& error) {
      GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("lulldenoise: %s", error.what()), (nullptr));
      return GST_STATE_CHANGE_FAILURE;
    }
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(lull_denoise_parent_class)->change_state(element, change);
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY) {
    state_of(self).stream.reset();
    state_of(self).output.stop();
  }
  return result;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  auto* self = LULL_DENOISE(object);
  GST_OBJECT_LOCK(self);
  Settings& settings = state_of(self).settings;
  if (id == threads_property) {
    settings.threads = g_value_get_int(value);
  } else if (id >= 1 && id <= std::size(text_properties)) {
    const char* text = g_value_get_string(value);
    settings.*text_properties[id - 1].member = text ? text : "";
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  auto* self = LULL_DENOISE(object);
  GST_OBJECT_LOCK(self);
  const Settings& settings = state_of(self).settings;
  if (id == threads_property) {
    g_value_set_int(value, settings.threads);
  } else if (id >= 1 && id <= std::size(text_properties)) {
    const TextProperty& property = text_properties[id - 1];
    const std::string& text = settings.*property.member;
    g_value_set_string(value, text.empty() ? property.initial : text.c_str());
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

void finalize(GObject* object) {
  delete LULL_DENOISE(object)->state;
  G_OBJECT_CLASS(lull_denoise_parent_class)->finalize(object);
}

void add_pad_template(GstElementClass* type, const char* name, GstPadDirection direction) {
  GstCaps* caps = gst_caps_from_string(lull::gstreamer::caps_text().c_str());
  gst_element_class_add_pad_template(type,
                                     gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
}

}  // namespace

static void lull_denoise_class_init(LullDenoiseClass* type) {
  auto* object = G_OBJECT_CLASS(type);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_READY);
  guint id = 0;
  for (const TextProperty& property : text_properties)
    g_object_class_install_property(
        object, ++id,
        g_param_spec_string(property.name, property.nick, property.help, property.initial, flags));
  g_object_class_install_property(
      object, threads_property,
      g_param_spec_int("threads", "Threads", "CPU threads; 0: all cores", 0, 1024, 0, flags));
  auto* element = GST_ELEMENT_CLASS(type);
  element->change_state = change_state;
  gst_element_class_set_static_metadata(
      element, "lull denoiser", "Filter/Effect/Video",
      "Denoises video with BM3D or non-local means, on the CPU or NVIDIA GPUs",
      "The authors of lull");
  add_pad_template(element, "sink", GST_PAD_SINK);
  add_pad_template(element, "src", GST_PAD_SRC);
}

static void lull_denoise_init(LullDenoise* self) {
  auto* type = GST_ELEMENT_GET_CLASS(self);
  self->sink = gst_pad_new_from_template(gst_element_class_get_pad_template(type, "sink"), "sink");
  gst_pad_set_chain_function(self->sink, chain);
  gst_pad_set_event_function(self->sink, handle_event);
  gst_pad_set_query_function(self->sink, handle_sink_query);
  GST_PAD_SET_ACCEPT_TEMPLATE(self->sink);  // set_caps() asks the next element
  gst_element_add_pad(GST_ELEMENT(self), self->sink);
  self->source = gst_pad_new_from_template(gst_element_class_get_pad_template(type, "src"), "src");
  gst_pad_set_query_function(self->source, handle_source_query);
  GST_PAD_SET_ACCEPT_TEMPLATE(self->source);
  gst_element_add_pad(GST_ELEMENT(self), self->source);
  self->state = new ElementState(self->source);
}
