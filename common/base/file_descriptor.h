// Owns a file descriptor.
#ifndef PACELINE_COMMON_BASE_FILE_DESCRIPTOR_H_
#define PACELINE_COMMON_BASE_FILE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace paceline {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  // Takes ownership of `fd`; -1: none.
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // Releases ownership.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_FILE_DESCRIPTOR_H_
