// The Python module lull._core: sessions and noise estimation for planes of samples.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "choose/series.h"
#include "core/error.h"
#include "core/validate_format.h"
#include "core/version.h"
#include "cuda/device_list.h"
#include "cuda/results/result_frames.h"
#include "noise/estimate/clipped_noise.h"
#include "python/command/bind_command.h"
#include "python/src/device_array.h"
#include "python/src/enlarger.h"
#include "python/src/noise.h"
#include "python/src/noise_state.h"
#include "python/src/session.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace lull::python {
namespace {

/// Returns the format of frames without chroma subsampling. `layout` is "gray", "yuv" or "rgb".
/// `bits` is 8, 9..16, or 32 for floats.
FrameFormat format_of(int width, int height, const std::string& layout, int bits) {
  FrameFormat format{.width = width, .height = height};
  format.layout = layout == "gray" ? Layout::gray : layout == "yuv" ? Layout::yuv : Layout::rgb;
  format.bits = bits;
  format.sample = bits == 8 ? SampleType::u8 : bits == 32 ? SampleType::f32 : SampleType::u16;
  validate(format);
  return format;
}

void translate(PyObject* error_type, const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const bool memory = error.kind() == ErrorKind::out_of_memory ||
                        dynamic_cast<const OutOfDeviceMemory*>(&error) != nullptr;
    PyObject* type = memory                                        ? PyExc_MemoryError
                     : error.kind() == ErrorKind::invalid_argument ? PyExc_ValueError
                                                                   : error_type;
    PyErr_SetString(type, error.what());
  }
}

void bind_noise(nb::module_& m) {
  nb::class_<Noise>(m, "Noise", "A noise model for the filters, on the 0..255 scale.")
      .def_static("white", &white_noise, "sigma"_a)
      .def_static("coloured", &coloured_noise, "covariances"_a)
      .def_static("rician", &rician_noise, "sigma"_a, "zero"_a)
      .def("rescaled", &rescaled, "factor"_a, "zero"_a)
      .def("strengthened", &strengthened, "strength"_a)
      .def(
          "may_show_clipping",
          [](const Noise& noise, const FrameFormat& format) {
            return may_show_clipping(noise.model, format.layout);
          },
          "format"_a)
      .def_prop_ro("sigma", [](const Noise& noise) { return noise.model.sigmas(); })
      .def_prop_ro("levels", [](const Noise& noise) { return noise.model.levels_in_samples(); })
      .def_prop_ro("white_only", [](const Noise& noise) { return noise.model.is_white(); })
      .def_prop_ro("kind",
                   [](const Noise& noise) {
                     return noise.volume_noise && noise.volume_noise->kind == NoiseKind::rician
                                ? "rician"
                                : "gaussian";
                   })
      .def_prop_ro("varies",
                   [](const Noise& noise) { return noise.volume_noise && noise.volume_noise->map; })
      .def("__getstate__", [](const Noise& noise) { return state_of(noise); })
      .def("__setstate__",
           [](Noise& at, const NoiseState& state) { new (&at) Noise(noise_of(state)); });
  nb::class_<Estimate>(m, "Estimate", "A noise estimate.")
      .def_ro("noise", &Estimate::noise)
      .def_ro("level", &Estimate::level)
      .def_ro("coarse", &Estimate::coarse)
      .def_ro("certain", &Estimate::certain)
      .def_ro("why", &Estimate::why)
      .def("__getstate__", [](const Estimate& found) { return state_of(found); })
      .def("__setstate__", [](Estimate& at, const EstimateState& state) {
        new (&at) Estimate(estimate_of(state));
      });
  nb::class_<RenderNoise>(m, "RenderNoise", "Known properties of the noise of a render.")
      .def(
          "__init__",
          [](RenderNoise* at, float sigma, float strength) {
            new (at) RenderNoise{.sigma = sigma, .strength = strength};
          },
          "sigma"_a, "strength"_a);
  nb::class_<Depth>(m, "Depth", "The scale on which depth maps are filtered, and their noise.")
      .def_ro("noise", &Depth::noise)
      .def_prop_ro("sigma", [](const Depth& depth) { return depth.scale.sigma; })
      .def_prop_ro("reference", [](const Depth& depth) { return depth.scale.reference; });
  m.def(
      "analyse_depth",
      [](const std::vector<Image>& maps, const FrameFormat& format, std::optional<double> sigma,
         std::optional<double> invalid, bool squared, std::optional<double> reference) {
        const nb::gil_scoped_release without_gil;
        const DepthSamples samples{.invalid = invalid,
                                   .noise = squared ? DepthNoise::squared : DepthNoise::constant};
        return analyse_depth(maps, format, samples, sigma, reference);
      },
      "maps"_a, "format"_a, "sigma"_a, "invalid"_a, "squared"_a, "reference"_a);
  m.def(
      "clipped_noise",
      [](const Noise& noise, const std::vector<std::vector<Image>>& excerpts,
         const FrameFormat& format) {
        const nb::gil_scoped_release without_gil;
        return clipped_noise(noise, excerpts, format);
      },
      "noise"_a, "excerpts"_a, "format"_a);
  m.def(
      "find_noise",
      [](const std::vector<std::vector<Image>>& excerpts, const FrameFormat& format, bool flat) {
        const nb::gil_scoped_release without_gil;
        return find_noise(excerpts, format, flat);
      },
      "excerpts"_a, "format"_a, "flat"_a);
  nb::class_<VolumeStatistics>(m, "VolumeStatistics",
                               "Collects volumes slice by slice for their noise.")
      .def(nb::init<const FrameFormat&, std::int64_t>(), "format"_a, "slices"_a)
      .def("add", &VolumeStatistics::add, "slice"_a, "place"_a,
           nb::call_guard<nb::gil_scoped_release>())
      .def("find", &VolumeStatistics::find, "kind"_a, "zero"_a,
           nb::call_guard<nb::gil_scoped_release>());
}

void bind_session(nb::module_& m) {
  nb::class_<FrameFormat>(m, "Format", "Format of frames whose planes have equal sizes.")
      .def_static("of", &format_of, "width"_a, "height"_a, "layout"_a, "bits"_a);
  nb::class_<Result>(m, "Result", "A finished frame.")
      .def("copy_to", &Result::copy_to, "planes"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("copy_to_device", &Result::copy_to_device, "image"_a, "original"_a,
           nb::call_guard<nb::gil_scoped_release>());
  nb::class_<cuda::ArrayPicture>(m, "DeviceImage",
                                 "Planes of numbers in GPU memory; number = low + sample "
                                 "* span.")
      .def(
          "__init__",
          [](cuda::ArrayPicture* at, int device, const std::string& typestr, double low,
             double span, const std::vector<DevicePlane>& planes) {
            new (at) cuda::ArrayPicture(device_image(device, typestr, low, span, planes));
          },
          "device"_a, "typestr"_a, "low"_a, "span"_a, "planes"_a);
  nb::class_<Session>(m, "Session", "Denoises frames of one format.")
      .def(
          "__init__",
          [](Session* at, const FrameFormat& format, const Noise& noise, std::string method,
             std::string profile, std::string device, int temporal, bool basic_only, int threads,
             bool on_device, bool guided, std::string matcher, std::string clusters,
             std::optional<RenderNoise> render, const Depth* depth) {
            SessionChoice choice{.method = std::move(method),
                                 .profile = std::move(profile),
                                 .device = std::move(device),
                                 .temporal = temporal,
                                 .matcher = std::move(matcher),
                                 .clusters = std::move(clusters),
                                 .threads = threads,
                                 .results_on_device = on_device,
                                 .guided = guided,
                                 .noise = noise.model,
                                 .volume_noise = noise.volume_noise,
                                 .render = render};
            if (depth) choice.depth = depth->scale;
            if (basic_only) {
              choice.adjust = [](bm3d::Params& params) { params.phases = 1; };
              choice.adjust_volumes = [](bm4d::Params& params) { params.phases = 1; };
            }
            const nb::gil_scoped_release without_gil;
            new (at) Session(choice, format);
          },
          "format"_a, "noise"_a, "method"_a, "profile"_a, "device"_a, "temporal"_a, "basic_only"_a,
          "threads"_a, "on_device"_a, "guided"_a = false, "matcher"_a = "window", "clusters"_a = "",
          "render"_a = nb::none(), "depth"_a = nb::none())
      .def("push",
           nb::overload_cast<const Image&, int, bool, const Image&, const FeatureImages&>(
               &Session::push),
           "planes"_a, "slice"_a, "copy"_a, "guide"_a = Image(), "features"_a = FeatureImages(),
           nb::call_guard<nb::gil_scoped_release>())
      .def("push_on_device", &Session::push_on_device, "image"_a, "slice"_a, "copy"_a,
           "guide"_a = nb::none(), nb::call_guard<nb::gil_scoped_release>())
      .def("drain", &Session::drain, nb::call_guard<nb::gil_scoped_release>())
      .def("close", &Session::close, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("latency", &Session::latency)
      .def_prop_ro("device", &Session::device);
}

using SeriesArray = nb::ndarray<float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

/// Denoises a series with the axes (volume, z, y, x) in place, on the 0..255 scale. If `noise` is
/// null, the function estimates the noise. Returns false, and changes no sample, if the volumes
/// have too little in common.
bool denoise_array_series(const SeriesArray& samples, const Noise* noise, const std::string& kind,
                          float strength, std::string profile, std::string device, float zero) {
  SeriesSettings settings{.profile = std::move(profile),
                          .device = std::move(device),
                          .strength = strength,
                          .zero = zero};
  if (noise)
    settings.noise = noise->volume_noise.value_or(VolumeNoise{.sigma = noise->model.sigma(0)});
  if (kind != "auto") settings.kind = kind == "rician" ? NoiseKind::rician : NoiseKind::gaussian;
  const auto size = [&](int axis) { return static_cast<int>(samples.shape(axis)); };
  const series::Shape shape{
      .width = size(3), .height = size(2), .slices = size(1), .volumes = size(0)};
  const nb::gil_scoped_release without_gil;
  return denoise_series({.shape = shape, .data = samples.data()}, settings);
}

void bind_series(nb::module_& m) {
  m.def("denoise_series", &denoise_array_series, "samples"_a, "noise"_a.none(), "kind"_a,
        "strength"_a, "profile"_a, "device"_a, "zero"_a,
        "Denoises a series in place; False: the volumes have too little in common.");
}

void bind_enlarger(nb::module_& m) {
  nb::class_<Enlarger>(m, "Enlarger", "Enlarges clean frames of one format.")
      .def(nb::init<const FrameFormat&, double, const std::string&, const std::string&>(),
           "format"_a, "factor"_a, "profile"_a, "device"_a,
           nb::call_guard<nb::gil_scoped_release>())
      .def("enlarged", &Enlarger::enlarged, "planes"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("width", [](const Enlarger& one) { return one.format().width; })
      .def_prop_ro("height", [](const Enlarger& one) { return one.format().height; });
}

void bind_device_array(nb::module_& m) {
  nb::class_<DeviceArray>(m, "DeviceArray",
                          "An array in GPU memory, for programs without an array library for "
                          "GPUs; contiguous in C order.")
      .def_static("empty", &DeviceArray::empty, "shape"_a, "typestr"_a, "device"_a)
      .def_static("gathered", &DeviceArray::gathered, "address"_a, "shape"_a, "strides"_a, "step"_a,
                  "typestr"_a, "device"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("set", &DeviceArray::set, "array"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("get_into", &DeviceArray::get_into, "array"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("shape", [](const DeviceArray& a) { return nb::tuple(nb::cast(a.shape())); })
      .def_prop_ro("typestr", &DeviceArray::typestr)
      .def_prop_ro("device", &DeviceArray::device)
      .def("__dlpack__",
           [](const DeviceArray& a, const nb::kwargs& options) {
             return a.exported().attr("__dlpack__")(**options);
           })
      .def("__dlpack_device__",
           [](const DeviceArray& a) { return nb::make_tuple(nb::device::cuda::value, a.device()); })
      .def_prop_ro("__cuda_array_interface__", [](const DeviceArray& a) {
        nb::dict interface;
        interface["shape"] = nb::tuple(nb::cast(a.shape()));
        interface["typestr"] = a.typestr();
        interface["data"] = nb::make_tuple(a.address(), false);
        interface["version"] = 3;
        interface["strides"] = nb::none();
        interface["stream"] = nb::none();
        return interface;
      });
}

nb::list devices() {
  nb::list names;
  for (const cuda::DeviceInfo& device : cuda::list_devices().devices)
    names.append(nb::make_tuple("cuda:" + std::to_string(device.index), device.name));
  return names;
}

}  // namespace
}  // namespace lull::python

NB_MODULE(_core, m) {
  m.doc() = "Sessions and noise over planes of samples; use the package lull.";
  static PyObject* error = PyErr_NewExceptionWithDoc(
      "lull.Error",
      "An error that no standard exception of Python describes; its message is one sentence.",
      PyExc_RuntimeError, nullptr);
  m.attr("Error") = nb::handle(error);
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void*) { lull::python::translate(error, thrown); });
  m.attr("version") = lull::version;
  m.def("devices", &lull::python::devices, "Name and model of each GPU.");
  m.def("max_u16", &lull::python::max_u16, "address"_a, "shape"_a, "strides"_a, "device"_a,
        nb::call_guard<nb::gil_scoped_release>());
  m.def("synchronize_device", &lull::cuda::synchronize, "device"_a,
        nb::call_guard<nb::gil_scoped_release>());
  lull::python::bind_noise(m);
  lull::python::bind_session(m);
  lull::python::bind_series(m);
  lull::python::bind_enlarger(m);
  lull::python::bind_device_array(m);
#ifdef LULL_WHEEL_COMMAND
  lull::python::bind_command(m);
#endif
}
