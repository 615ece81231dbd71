// A small path tracer that renders test material for denoisers: two scenes, written as OpenEXR with
// the layers that renderers usually add.
//
//   render_scene OUT.exr [--scene yard|study] [--size WxH] [--spp N] [--lens RADIUS] [--seed N]
//                        [--frame N]
//
// Layers, named as OIDN's loader expects them: R G B, albedo.R G B, normal.X Y Z (in world
// space), depth.Z (distance from the eye), variance.R G B (of each pixel's mean); halfA.* and
// halfB.* are the means of the even and of the odd samples. Renders with different seeds are
// independent.
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfStringAttribute.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "scenes.h"

namespace {

/// SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t v = state_ += 0x9e3779b97f4a7c15ull;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
    v = (v ^ v >> 27) * 0x94d049bb133111ebull;
    return v ^ v >> 31;
  }
  float operator()() { return static_cast<float>(bits() >> 40) * 0x1p-24f; }  // in [0, 1)

 private:
  std::uint64_t state_;
};

void intersect(const Ball& ball, Vec from, Vec direction, Hit& hit) {
  const Vec e = from - ball.centre;
  const float b = dot(e, direction), q = b * b - dot(e, e) + ball.radius * ball.radius;
  if (q < 0) return;
  const float near = -b - std::sqrt(q), far = -b + std::sqrt(q),
              distance = near > 1e-3f ? near : far;
  if (distance < 1e-3f || distance >= hit.distance) return;
  hit = {distance, from + direction * distance, {}, ball.albedo, ball.surface};
  hit.normal = (hit.point - ball.centre) * (1 / ball.radius);
}

/// Intersects a ray with a box. The ray begins outside of the box, or inside as in a room.
void intersect(const Box& box, Vec from, Vec direction, Hit& hit) {
  const float o[3] = {from.x, from.y, from.z}, d[3] = {direction.x, direction.y, direction.z};
  const float low[3] = {box.low.x, box.low.y, box.low.z};
  const float high[3] = {box.high.x, box.high.y, box.high.z};
  float in = -1e30f, out = 1e30f;
  int in_axis = 0, out_axis = 0;
  for (int i = 0; i < 3; ++i) {
    const float inverse = 1 / (d[i] == 0 ? 1e-12f : d[i]);
    const float a = (low[i] - o[i]) * inverse, b = (high[i] - o[i]) * inverse;
    if (std::min(a, b) > in) in = std::min(a, b), in_axis = i;
    if (std::max(a, b) < out) out = std::max(a, b), out_axis = i;
  }
  if (in > out) return;
  const bool outside = in > 1e-3f;
  const float distance = outside ? in : out;
  if (distance < 1e-3f || distance >= hit.distance) return;
  const int axis = outside ? in_axis : out_axis;
  hit = {distance, from + direction * distance, {}, box.albedo, box.surface};
  const float side = d[axis] < 0 ? 1.f : -1.f;
  hit.normal = {axis == 0 ? side : 0, axis == 1 ? side : 0, axis == 2 ? side : 0};
}

Hit trace(const Scene& scene, Vec from, Vec direction) {
  Hit hit;
  for (const Ball& ball : scene.balls) intersect(ball, from, direction, hit);
  for (const Box& box : scene.boxes) intersect(box, from, direction, hit);
  if (scene.outdoors) {
    if (direction.y < 0 && -from.y / direction.y < hit.distance && from.y > 1e-4f) {
      hit = {-from.y / direction.y, {}, {0, 1, 0}, {.6f, .57f, .5f}, Surface::matte};
      hit.point = from + direction * hit.distance;
      hit.point.y = 0;
    }
  } else {
    intersect(Box{{-2.6f, 0, -2.5f}, {2.6f, 3, 5}, {.75f, .73f, .7f}, Surface::matte}, from,
              direction, hit);
    const bool lamp = hit.normal.y < -.5f && hit.point.y > 2.9f && hit.point.x > scene.lamp_low.x &&
                      hit.point.x < scene.lamp_high.x && hit.point.z > scene.lamp_low.z &&
                      hit.point.z < scene.lamp_high.z;
    if (lamp) hit.surface = Surface::lamp, hit.albedo = {1, 1, 1};
  }
  if (hit.distance < 1e30f && hit.surface == Surface::matte)
    hit.albedo = texture(scene, hit.point, hit.normal, hit.albedo);
  return hit;
}

/// Returns a random direction with density cos / pi around `n`.
Vec sample_hemisphere(Vec n, Random& random) {
  const float u = random(), a = 2 * pi * random(), s = std::sqrt(u);
  const Vec t = unit(cross(std::fabs(n.x) > .5f ? Vec{0, 1, 0} : Vec{1, 0, 0}, n));
  return t * (s * std::cos(a)) + cross(n, t) * (s * std::sin(a)) + n * std::sqrt(1 - u);
}

Vec sky(const Scene& scene, Vec direction, bool with_sun) {
  if (!scene.outdoors) return {};
  const float up = std::max(direction.y, 0.f);
  const Vec light = Vec{.75f, .82f, .95f} * (1 - up) + Vec{.25f, .45f, .9f} * up;
  const bool sun = with_sun && dot(direction, scene.sun) > .9995f;
  return sun ? Vec{900, 800, 650} : light;  // far above white, like real light sources
}

/// Returns the direct light of a lamp or the sun on a matte surface.
Vec direct_light(const Scene& scene, const Hit& hit, Vec n, Random& random) {
  if (scene.outdoors) {
    const Vec to = unit(scene.sun + Vec{random() - .5f, random() - .5f, random() - .5f} * .06f);
    const float c = dot(n, to);
    if (c <= 0 || trace(scene, hit.point + n * 1e-3f, to).distance < 1e29f) return {};
    return scene.sun_light * (c / pi);
  }
  const Vec low = scene.lamp_low, size = scene.lamp_high - low;
  const Vec to_lamp = Vec{low.x + size.x * random(), low.y, low.z + size.z * random()} - hit.point;
  const float d2 = dot(to_lamp, to_lamp), c = dot(n, unit(to_lamp)), c_lamp = unit(to_lamp).y;
  if (c <= 0 || c_lamp <= 0) return {};
  if (trace(scene, hit.point + n * 1e-3f, unit(to_lamp)).surface != Surface::lamp) return {};
  return scene.lamp_light * (c * c_lamp / d2 * size.x * size.z / pi);
}

struct Sample {
  Vec light, albedo, normal;
  float depth = 0;
};

/// Traces a path. Its features are those of the first surface that is not a mirror; the albedo
/// includes the reflectance of the mirrors before it.
Sample trace_path(const Scene& scene, Vec from, Vec direction, Random& random) {
  Sample out;
  Vec weight{1, 1, 1};
  bool sees_lamps = true, first = true;
  float distance = 0;
  for (int bounce = 0; bounce < 10; ++bounce) {
    const Hit hit = trace(scene, from, direction);
    if (hit.distance > 1e29f) {
      out.light = out.light + weight * sky(scene, direction, sees_lamps);
      if (first) out.albedo = weight, out.depth = 50;
      break;
    }
    const Vec n = dot(hit.normal, direction) < 0 ? hit.normal : hit.normal * -1.f;
    distance += hit.distance;
    if (first && hit.surface != Surface::mirror) {
      out.albedo = weight * hit.albedo, out.normal = n, out.depth = distance;
      first = false;
    }
    if (hit.surface == Surface::lamp) {
      if (sees_lamps) out.light = out.light + weight * scene.lamp_light;
      break;
    }
    weight = weight * hit.albedo;
    from = hit.point + n * 1e-3f;
    if (hit.surface == Surface::mirror || (hit.surface == Surface::glossy && random() < .25f)) {
      // A glossy surface has a slightly blurred reflection.
      direction = mirrored(direction, n);
      if (hit.surface == Surface::glossy)
        direction = unit(direction + Vec{random() - .5f, random() - .5f, random() - .5f} * .12f);
      if (dot(direction, n) <= 0) break;
      sees_lamps = true;
      continue;
    }
    out.light = out.light + weight * direct_light(scene, hit, n, random);
    sees_lamps = false;
    if (bounce > 2) {  // Russian roulette
      const float survival = std::min(.95f, std::max({weight.x, weight.y, weight.z}));
      if (random() >= survival) break;
      weight = weight * (1 / survival);
    }
    direction = sample_hemisphere(n, random);
  }
  return out;
}

struct Task {
  std::string out, scene = "study";
  int width = 480, height = 270, spp = 16, frame = 0;
  float lens = 0;
  std::uint64_t seed = 1;
};

constexpr std::array<const char*, 19> channels = {
    "R",        "G",        "B",       "albedo.R",   "albedo.G",   "albedo.B",   "normal.X",
    "normal.Y", "normal.Z", "depth.Z", "variance.R", "variance.G", "variance.B", "halfA.R",
    "halfA.G",  "halfA.B",  "halfB.R", "halfB.G",    "halfB.B"};
using Pixel = std::array<float, channels.size()>;

Pixel render(const Scene& scene, const Task& task, int x, int y) {
  Random seeds((task.seed << 40) + (static_cast<std::uint64_t>(task.frame) << 32) +
               static_cast<std::uint64_t>(y) * 65536 + static_cast<std::uint64_t>(x));
  Random random(seeds.bits());
  const Vec forward = unit(scene.target - scene.eye);
  const Vec right = unit(cross(forward, {0, 1, 0})), up = cross(right, forward);
  const float height = static_cast<float>(task.height);
  std::array<double, 10> sum{};
  std::array<double, 3> squares{};
  std::array<std::array<double, 3>, 2> halves{};
  for (int i = 0; i < task.spp; ++i) {
    const float px = (static_cast<float>(x) + random() - static_cast<float>(task.width) / 2);
    const float py = (height / 2 - static_cast<float>(y) - random());
    Vec direction = unit(forward * 1.3f + right * (px / height) + up * (py / height));
    Vec eye = scene.eye;
    if (task.lens > 0) {
      const float r = std::sqrt(random()) * task.lens, a = 2 * pi * random();
      const Vec focus =
          eye + direction * (.9f * std::sqrt(dot(scene.target - eye, scene.target - eye)));
      eye = eye + right * (r * std::cos(a)) + up * (r * std::sin(a));
      direction = unit(focus - eye);
    }
    const Sample s = trace_path(scene, eye, direction, random);
    const float values[10] = {s.light.x,  s.light.y,  s.light.z,  s.albedo.x, s.albedo.y,
                              s.albedo.z, s.normal.x, s.normal.y, s.normal.z, s.depth};
    for (int c = 0; c < 10; ++c) sum[c] += values[c];
    for (int c = 0; c < 3; ++c) {
      squares[c] += static_cast<double>(values[c]) * values[c];
      halves[i % 2][c] += values[c];
    }
  }
  Pixel pixel{};
  const double n = task.spp;
  for (int c = 0; c < 10; ++c) pixel[c] = static_cast<float>(sum[c] / n);
  for (int c = 0; c < 3; ++c) {
    const double variance = std::max(squares[c] / n - sum[c] / n * (sum[c] / n), 0.0);
    pixel[10 + c] = static_cast<float>(n > 1 ? variance / (n - 1) : variance);
    for (int h = 0; h < 2; ++h)
      pixel[13 + 3 * h + c] =
          static_cast<float>(halves[h][c] / std::max(1, (task.spp + 1 - h) / 2));
  }
  return pixel;
}

std::vector<Pixel> render(const Scene& scene, const Task& task) {
  std::vector<Pixel> pixels(static_cast<std::size_t>(task.width) * task.height);
  std::atomic<int> next = 0;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back([&] {
      for (int y = next++; y < task.height; y = next++)
        for (int x = 0; x < task.width; ++x)
          pixels[static_cast<std::size_t>(y) * task.width + x] = render(scene, task, x, y);
    });
  threads.clear();
  return pixels;
}

void write(const Task& task, std::vector<Pixel>& pixels) {
  Imf::Header header(task.width, task.height);
  header.insert("scene", Imf::StringAttribute(task.scene));
  Imf::FrameBuffer buffer;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    header.channels().insert(channels[c], Imf::Channel(Imf::FLOAT));
    buffer.insert(channels[c],
                  Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(&pixels[0][c]), sizeof(Pixel),
                             sizeof(Pixel) * static_cast<std::size_t>(task.width)));
  }
  Imf::OutputFile file(task.out.c_str(), header);
  file.setFrameBuffer(buffer);
  file.writePixels(task.height);
}

int usage() {
  std::fputs(
      "usage: render_scene OUT.exr [--scene yard|study] [--size WxH] [--spp N] [--lens RADIUS]\n"
      "                    [--seed N] [--frame N]\n",
      stderr);
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  Task task;
  if (count < 2 || count % 2 != 0) return usage();
  task.out = arguments[1];
  for (int i = 2; i + 1 < count; i += 2) {
    const std::string name = arguments[i], value = arguments[i + 1];
    if (name == "--scene" && (value == "yard" || value == "study"))
      task.scene = value;
    else if (name == "--spp")
      task.spp = std::atoi(value.c_str());
    else if (name == "--lens")
      task.lens = static_cast<float>(std::atof(value.c_str()));
    else if (name == "--seed")
      task.seed = static_cast<std::uint64_t>(std::atoll(value.c_str()));
    else if (name == "--frame")
      task.frame = std::atoi(value.c_str());
    else if (name != "--size" ||
             std::sscanf(value.c_str(), "%dx%d", &task.width, &task.height) != 2)
      return usage();
  }
  if (task.spp < 1 || task.width < 1 || task.height < 1) return usage();
  try {
    std::vector<Pixel> pixels = render(make_scene(task.scene, task.frame), task);
    write(task, pixels);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "render_scene: %s\n", e.what());
    return 1;
  }
}
