// JPEG and back, in memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <span>

#include "simulator/data/corruption_parts.h"
// libjpeg's header needs size_t and FILE first.
#include <jpeglib.h>

namespace boba::sim {
namespace {

// libjpeg ends the program on errors and prints warnings, unless told otherwise.
struct ErrorHandler {
  jpeg_error_mgr manager = {};
  std::jmp_buf back = {};
};

void leave(j_common_ptr info) {
  // The manager is the handler's first member.
  std::longjmp(reinterpret_cast<ErrorHandler*>(info->err)->back, 1);
}
void print_nothing(j_common_ptr) {}

jpeg_error_mgr* quiet(ErrorHandler& handler) {
  jpeg_std_error(&handler.manager);
  handler.manager.error_exit = leave;
  handler.manager.output_message = print_nothing;
  return &handler.manager;
}

struct Pixels {
  unsigned width = 0;
  unsigned height = 0;
  int channels = 0;         // 1 or 3
  JSAMPLE* data = nullptr;  // row by row, the channels of a pixel together
};

// A C function in spirit: longjmp must not pass an object with a destructor. The caller frees
// *data, whatever was returned.
bool compress(const Pixels& pixels, int quality, unsigned char** data, unsigned long* size) {
  jpeg_compress_struct info = {};
  ErrorHandler handler;
  info.err = quiet(handler);
  if (setjmp(handler.back) != 0) {
    jpeg_destroy_compress(&info);
    return false;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, data, size);
  info.image_width = pixels.width;
  info.image_height = pixels.height;
  info.input_components = pixels.channels;
  info.in_color_space = pixels.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  const std::size_t stride = std::size_t{pixels.width} * static_cast<std::size_t>(pixels.channels);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = pixels.data + info.next_scanline * stride;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return true;
}

// The same, back into the pixels.
bool decompress(const unsigned char* data, unsigned long size, const Pixels& pixels) {
  jpeg_decompress_struct info = {};
  ErrorHandler handler;
  info.err = quiet(handler);
  if (setjmp(handler.back) != 0) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, data, size);
  jpeg_read_header(&info, TRUE);
  jpeg_start_decompress(&info);
  const bool same = info.output_width == pixels.width && info.output_height == pixels.height &&
                    info.output_components == pixels.channels;
  const std::size_t stride = std::size_t{pixels.width} * static_cast<std::size_t>(pixels.channels);
  while (same && info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.data + info.output_scanline * stride;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_destroy_decompress(&info);
  return same;
}

void through_jpeg(const Pixels& pixels, int quality) {
  unsigned char* data = nullptr;
  unsigned long size = 0;
  const bool good = compress(pixels, quality, &data, &size) && decompress(data, size, pixels);
  std::free(data);
  // Everything is in memory and of a size that JPEG has: only memory can run out.
  if (!good) throw std::bad_alloc();
}

// One image of the planes from first on.
void compress_planes(std::span<Plane> planes, int quality) {
  const int rows = planes[0].rows;
  const int cols = planes[0].cols;
  const std::size_t channels = planes.size();
  std::vector<JSAMPLE> bytes(planes[0].total() * channels);
  const auto at = [&](int y, int x, std::size_t k) -> JSAMPLE& {
    return bytes[static_cast<std::size_t>(y * cols + x) * channels + k];
  };
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < cols; ++x) {
      for (std::size_t k = 0; k < channels; ++k) {
        at(y, x, k) =
            static_cast<JSAMPLE>(std::lround(std::clamp(planes[k](y, x), 0.0F, 1.0F) * 255));
      }
    }
  }
  through_jpeg({.width = static_cast<unsigned>(cols),
                .height = static_cast<unsigned>(rows),
                .channels = static_cast<int>(channels),
                .data = bytes.data()},
               quality);
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < cols; ++x) {
      for (std::size_t k = 0; k < channels; ++k) {
        planes[k](y, x) = static_cast<float>(at(y, x, k)) / 255;
      }
    }
  }
}

}  // namespace

void jpeg_compression(int severity, Draws&, Planes& planes) {
  constexpr std::array kQuality = {80, 65, 58, 50, 40};
  const int quality = kQuality[static_cast<std::size_t>(severity - 1)];
  if (planes.size() == 3) {
    compress_planes(planes, quality);
    return;
  }
  for (Plane& plane : planes) compress_planes(std::span(&plane, 1), quality);
}

}  // namespace boba::sim
