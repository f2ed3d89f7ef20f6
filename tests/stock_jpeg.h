// Decodes JPEG images by libjpeg alone, to compare with.
#ifndef PACELINE_TESTS_STOCK_JPEG_H_
#define PACELINE_TESTS_STOCK_JPEG_H_

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "absl/strings/string_view.h"

// clang-format off
#include "jpeglib.h"
#include "jerror.h"
// clang-format on

namespace paceline {

// How libjpeg leaves.
struct StockJpeg {
  jpeg_decompress_struct jpeg;
  jpeg_error_mgr errors;
  std::jmp_buf on_error;
};

// Sets `pixels` to those of an image, whose colors are not CMYK, in gray or RGB
// by the fast inverse DCT. Returns false if libjpeg says that it is damaged.
// Not thread-safe.
inline bool DecodeByLibjpeg(absl::string_view bytes, int channels,
                            std::vector<uint8_t>& pixels) {
  static StockJpeg state;
  state.jpeg.err = jpeg_std_error(&state.errors);
  state.errors.error_exit = [](j_common_ptr /*jpeg*/) {
    std::longjmp(state.on_error, 1);
  };
  state.errors.emit_message = [](j_common_ptr jpeg, int level) {
    const int code = jpeg->err->msg_code;
    const bool is_harmless =
        code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM ||
        code == JWRN_JFIF_MAJOR || code == JWRN_TOO_MUCH_DATA ||
        code == JWRN_BOGUS_ICC;
    if (level < 0 && !is_harmless) std::longjmp(state.on_error, 1);
  };
  jpeg_create_decompress(&state.jpeg);
  jpeg_decompress_struct& jpeg = state.jpeg;
  if (setjmp(state.on_error) != 0) {
    jpeg_destroy_decompress(&jpeg);
    return false;
  }
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()),
               bytes.size());
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg.dct_method = JDCT_IFAST;
  jpeg_start_decompress(&jpeg);
  const size_t row_bytes = size_t{jpeg.output_width} * channels;
  pixels.resize(row_bytes * jpeg.output_height);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = pixels.data() + row_bytes * jpeg.output_scanline;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  jpeg_destroy_decompress(&jpeg);
  return true;
}

}  // namespace paceline

#endif  // PACELINE_TESTS_STOCK_JPEG_H_
