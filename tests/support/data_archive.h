// Packed files and archives, written with libarchive for tests of the readers.
//
// All of it is inline: only test programs of the simulator link libarchive.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boba::test {

struct Member {
  std::string name;
  std::string bytes;
};

namespace detail {

inline void require(int status, archive* to) {
  if (status != ARCHIVE_OK) throw std::runtime_error(archive_error_string(to));
}

template <class SetUp>
void write_archive(const std::filesystem::path& path, const std::vector<Member>& members,
                   SetUp&& set_up) {
  archive* to = archive_write_new();
  set_up(to);
  require(archive_write_open_filename(to, path.c_str()), to);
  for (const Member& member : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, member.name.c_str());
    archive_entry_set_filetype(entry, member.name.ends_with('/') ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(member.bytes.size()));
    require(archive_write_header(to, entry), to);
    const la_ssize_t count = archive_write_data(to, member.bytes.data(), member.bytes.size());
    if (count != static_cast<la_ssize_t>(member.bytes.size())) throw std::runtime_error("short");
    archive_entry_free(entry);
  }
  require(archive_write_close(to), to);
  archive_write_free(to);
}

}  // namespace detail

inline void write_gzip(const std::filesystem::path& path, std::string bytes) {
  detail::write_archive(path, {{"content", std::move(bytes)}}, [](archive* to) {
    detail::require(archive_write_add_filter_gzip(to), to);
    detail::require(archive_write_set_format_raw(to), to);
  });
}

inline void write_xz(const std::filesystem::path& path, std::string bytes) {
  detail::write_archive(path, {{"content", std::move(bytes)}}, [](archive* to) {
    detail::require(archive_write_add_filter_xz(to), to);
    detail::require(archive_write_set_format_raw(to), to);
  });
}

// A name that ends with a slash is a folder.
inline void write_tar_gzip(const std::filesystem::path& path, const std::vector<Member>& members) {
  detail::write_archive(path, members, [](archive* to) {
    detail::require(archive_write_add_filter_gzip(to), to);
    detail::require(archive_write_set_format_ustar(to), to);
  });
}

inline void write_zip(const std::filesystem::path& path, const std::vector<Member>& members) {
  detail::write_archive(path, members,
                        [](archive* to) { detail::require(archive_write_set_format_zip(to), to); });
}

}  // namespace boba::test
