// Huffman codes of JPEG images, which are most of the time that it takes to
// decode one.
//
// libjpeg looks up 8 bits of a code, reads longer ones bit by bit, and then the
// bits of the coefficient. This decoder looks up 10 bits, finds the coefficient
// itself and the zeros before it there, and takes in new bits once for five
// coefficients. Its coefficients are those of libjpeg, and an image has an
// error if it has one there. So have all codes that do not exist, of which
// libjpeg takes some for zeros without a word.
#ifndef PACELINE_COMMON_IMAGE_JPEG_HUFFMAN_H_
#define PACELINE_COMMON_IMAGE_JPEG_HUFFMAN_H_

#include <cstddef>
#include <cstdint>
// jpeglib.h needs it.
#include <cstdio>

// clang-format off
#include "jpeglib.h"
extern "C" {
#include "jpegint.h"
}
#undef MAX
#undef MIN
// clang-format on

namespace paceline {

// A table of an image, made for looking up. Has no constructor and destructor,
// since libjpeg jumps over it.
struct JpegHuffmanTable {
  static constexpr int kLookedUpBits = 10;

  // What it was made of.
  JHUFF_TBL source;
  bool is_made;
  // By the next bits. If they have a code of AC and the value behind it, as
  // they mostly do: in the lowest byte, how many bits these are, in the next
  // one, how many zeros are before the value, and in the upper half the value.
  // Otherwise the lowest byte is 0, and the next ones have the bits of the code
  // alone, the size of the value in bits, and the zeros before it; all are 0 if
  // the code is longer.
  uint32_t entries[1 << kLookedUpBits];
  // Of codes of each length: the largest, -1 if there are none, and what is to
  // be added to one to get its place in `source`.
  int32_t max_code[17];
  int32_t place[17];
};

// Reads the scan of an image with a single one, baseline or extended
// sequential, without restarts. libjpeg calls it by the functions in its base.
//
// It keeps tables for the next image, which often has the same. Zero bytes are
// its initial state. Not thread-safe.
struct JpegHuffmanDecoder : jpeg_entropy_decoder {
  // The largest MCU that there can be, in bytes, and what is read beyond it.
  static constexpr size_t kMcuBytes =
      D_MAX_BLOCKS_IN_MCU * DCTSIZE2 * 31 / 8 + 32;
  // Enough that moving what is left of them costs little.
  static constexpr size_t kCodeBytes = 8 * kMcuBytes;

  JpegHuffmanTable dc[NUM_HUFF_TBLS];
  JpegHuffmanTable ac[NUM_HUFF_TBLS];
  // The last DC coefficient of each component.
  uint32_t last_dc[MAX_COMPS_IN_SCAN];

  // What comes next of the scan, without the zeros that the file has behind
  // bytes 0xff. Behind the scan's end there are zeros.
  uint8_t codes[kCodeBytes + kMcuBytes];
  size_t code_count;
  // How many of the codes have been taken into `bits`.
  size_t taken;
  // How many there were before them, and where they begin in the image.
  size_t dropped;
  const uint8_t* scan;
  // Whether a marker has ended the scan.
  bool is_at_marker;
  // The bits that come next, from the highest one on; behind `bit_count` of
  // them there may be some of those that follow.
  uint64_t bits;
  uint32_t bit_count;
};

// Takes the place of libjpeg's own decoder, if it can read the image. Call it
// between jpeg_start_decompress and the first line. Errors, such as a code that
// does not exist, go to the image's error_exit. `decoder` must live until the
// image is finished, aborted or destroyed.
void UseHuffmanDecoder(jpeg_decompress_struct& jpeg,
                       JpegHuffmanDecoder& decoder);

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_JPEG_HUFFMAN_H_
