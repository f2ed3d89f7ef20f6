#include "common/image/jpeg_decoder.h"

#include <csetjmp>
#include <cstddef>
#include <cstdint>
// jpeglib.h needs it.
#include <cstdio>

#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/image/image_limits.h"
#include "common/image/jpeg_huffman.h"

// clang-format off
#include "jpeglib.h"
#include "jerror.h"
// clang-format on

namespace paceline {

// libjpeg leaves by longjmp on an error, so what it is called from holds no
// objects with destructors.
struct JpegState {
  jpeg_decompress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg_source_mgr source;
  jpeg_progress_mgr progress;
  std::jmp_buf on_error;
  JpegHuffmanDecoder huffman = {};
  bool is_created = false;
  size_t bytes = 0;
  char message[JMSG_LENGTH_MAX];
};

namespace {

// Warnings after which the pixels are not those that were encoded.
bool IsDamage(int warning) {
  switch (warning) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
    case JWRN_NOT_SEQUENTIAL:
      return true;
    default:
      return false;
  }
}

[[noreturn]] void Fail(j_common_ptr jpeg) {
  auto* state = static_cast<JpegState*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, state->message);
  std::longjmp(state->on_error, 1);
}

void OnMessage(j_common_ptr jpeg, int level) {
  if (level < 0 && IsDamage(jpeg->err->msg_code)) Fail(jpeg);
}

boolean OnEnd(j_decompress_ptr jpeg) {
  jpeg->err->msg_code = JERR_INPUT_EOF;
  Fail(reinterpret_cast<j_common_ptr>(jpeg));
}

void Skip(j_decompress_ptr jpeg, long bytes) {  // NOLINT: libjpeg's type
  if (bytes <= 0) return;
  const auto count = static_cast<size_t>(bytes);
  if (count > jpeg->src->bytes_in_buffer) ERREXIT(jpeg, JERR_INPUT_EOF);
  jpeg->src->next_input_byte += count;
  jpeg->src->bytes_in_buffer -= count;
}

void OnProgress(j_common_ptr jpeg) {
  const auto* decompress = reinterpret_cast<j_decompress_ptr>(jpeg);
  if (decompress->input_scan_number <= kMaxJpegScans) return;
  auto* state = static_cast<JpegState*>(jpeg->client_data);
  absl::SNPrintF(state->message, sizeof(state->message),
                 "it has more than %d scans", kMaxJpegScans);
  std::longjmp(state->on_error, 1);
}

void Nothing(j_decompress_ptr /*jpeg*/) {}

void Create(JpegState& state) {
  jpeg_std_error(&state.errors);
  state.errors.error_exit = Fail;
  state.errors.emit_message = OnMessage;
  state.jpeg.err = &state.errors;
  state.jpeg.client_data = &state;
  jpeg_create_decompress(&state.jpeg);
  state.source.init_source = Nothing;
  state.source.fill_input_buffer = OnEnd;
  state.source.skip_input_data = Skip;
  state.source.resync_to_restart = jpeg_resync_to_restart;
  state.source.term_source = Nothing;
  state.jpeg.src = &state.source;
  state.progress.progress_monitor = OnProgress;
  state.jpeg.progress = &state.progress;
  state.is_created = true;
}

bool IsCmyk(const jpeg_decompress_struct& jpeg) {
  return jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
}

absl::Status CheckHeader(const jpeg_decompress_struct& jpeg, size_t bytes,
                         int channels) {
  if (channels != 1 && channels != 3) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a JPEG image has 1 or 3 channels; expected %d", channels));
  }
  if (channels == 1 && IsCmyk(jpeg)) {
    return absl::InvalidArgumentError(
        "the JPEG image has the colors CMYK, which only become RGB; expected "
        "a gray one");
  }
  if (jpeg.arith_code != 0) {
    return absl::InvalidArgumentError(
        "the JPEG image has arithmetic coding; expected Huffman codes");
  }
  const ImageSize size = {jpeg.image_height, jpeg.image_width};
  return CheckImageSize(size, size.height * size.width,
                        static_cast<int64_t>(bytes), kMaxJpegPixelsPerByte);
}

// `cmyk`: a row, of which files by Adobe have the inverted values.
void CmykToRgb(const uint8_t* cmyk, bool is_inverted, int64_t width,
               uint8_t* rgb) {
  for (int64_t x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    const int black = is_inverted ? cmyk[3] : 255 - cmyk[3];
    for (int c = 0; c < 3; ++c) {
      const int ink = is_inverted ? cmyk[c] : 255 - cmyk[c];
      rgb[c] = static_cast<uint8_t>(black * ink / 255);
    }
  }
}

void ReadRows(jpeg_decompress_struct& jpeg, PixelBuffer& pixels) {
  constexpr JDIMENSION kRows = 16;
  JSAMPROW rows[kRows];
  while (jpeg.output_scanline < jpeg.output_height) {
    JDIMENSION count = 0;
    for (; count < kRows && jpeg.output_scanline + count < jpeg.output_height;
         ++count) {
      rows[count] = pixels.row(jpeg.output_scanline + count);
    }
    jpeg_read_scanlines(&jpeg, rows, count);
  }
}

void ReadCmykRows(jpeg_decompress_struct& jpeg, PixelBuffer& pixels) {
  JSAMPARRAY row =
      jpeg.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&jpeg), JPOOL_IMAGE,
                             jpeg.output_width * 4, 1);
  while (jpeg.output_scanline < jpeg.output_height) {
    uint8_t* out = pixels.row(jpeg.output_scanline);
    jpeg_read_scanlines(&jpeg, row, 1);
    CmykToRgb(row[0], jpeg.saw_Adobe_marker != 0, jpeg.output_width, out);
  }
}

absl::Status DecodeOrJump(JpegState& state, int channels, PixelBuffer& pixels) {
  jpeg_decompress_struct& jpeg = state.jpeg;
  jpeg_read_header(&jpeg, TRUE);
  RETURN_IF_ERROR(CheckHeader(jpeg, state.bytes, channels));
  const bool is_cmyk = IsCmyk(jpeg);
  jpeg.out_color_space = is_cmyk         ? JCS_CMYK
                         : channels == 1 ? JCS_GRAYSCALE
                                         : JCS_RGB;
  jpeg.dct_method = JDCT_IFAST;
  jpeg.do_fancy_upsampling = TRUE;
  jpeg_start_decompress(&jpeg);
  UseHuffmanDecoder(jpeg, state.huffman);
  pixels.Resize({jpeg.output_height, jpeg.output_width}, channels);
  if (is_cmyk) {
    ReadCmykRows(jpeg, pixels);
  } else {
    ReadRows(jpeg, pixels);
  }
  jpeg_finish_decompress(&jpeg);
  return absl::OkStatus();
}

}  // namespace

JpegDecoder::JpegDecoder() : state_(std::make_unique<JpegState>()) {}

JpegDecoder::~JpegDecoder() {
  if (state_->is_created) jpeg_destroy_decompress(&state_->jpeg);
}

absl::Status JpegDecoder::Decode(absl::string_view bytes, int channels,
                                 PixelBuffer& pixels) {
  JpegState& state = *state_;
  if (setjmp(state.on_error) != 0) {
    const size_t at = state.bytes - state.source.bytes_in_buffer;
    jpeg_abort_decompress(&state.jpeg);
    return absl::DataLossError(absl::StrFormat(
        "the JPEG image is damaged, or cut short, at byte %d of %d: %s", at,
        state.bytes, state.message));
  }
  state.bytes = bytes.size();
  state.source.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
  state.source.bytes_in_buffer = bytes.size();
  // libjpeg keeps tables for the next image, which may have none of its own.
  if (state.is_created) jpeg_destroy_decompress(&state.jpeg);
  state.is_created = false;
  Create(state);
  absl::Status decoded = DecodeOrJump(state, channels, pixels);
  if (!decoded.ok()) jpeg_abort_decompress(&state.jpeg);
  return decoded;
}

}  // namespace paceline
