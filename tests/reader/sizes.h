/* SPDX-License-Identifier: MIT
 *
 * The size rule of openetw/defs.h, tried on one function: programs of the first release, of this one and of one
 * that is still to come, and sizes that are none.
 */
#ifndef TESTS_READER_SIZES_H
#define TESTS_READER_SIZES_H

#define SIZES_AHEAD 64 /* bytes of members that this release does not know */

/* CALL fills *ret, a pointer to TYPE, of whose first release LAST is the last member. WANT is its code when the size is
 * fine: only with ERROR_SUCCESS something is filled. */
#define SIZES_CHECK(TYPE, LAST, WANT, CALL)                                                                     \
	do {                                                                                                    \
		const size_t first_ = offsetof(TYPE, LAST) + sizeof(((TYPE *)0)->LAST);                         \
		const size_t sizes_[] = {                                                                       \
			0, 4, first_ - 1, first_, sizeof(TYPE), sizeof(TYPE) + SIZES_AHEAD, 65537, UINT32_MAX}; \
		union {                                                                                         \
			TYPE it;                                                                                \
			uint8_t bytes[sizeof(TYPE) + SIZES_AHEAD + 8];                                          \
		} u_;                                                                                           \
		TYPE *ret = &u_.it;                                                                             \
		for (size_t i_ = 0; i_ < sizeof sizes_ / sizeof *sizes_; i_++) {                                \
			size_t size_ = sizes_[i_];                                                              \
			bool fine_ = size_ >= first_ && size_ <= 65536;                                         \
			memset(&u_, 0xAA, sizeof u_);                                                           \
			ret->size = (uint32_t)size_;                                                            \
			uint32_t code_ = (CALL);                                                                \
			if (code_ != (fine_ ? (uint32_t)(WANT) : (uint32_t)ERROR_INVALID_PARAMETER)) {          \
				fail_msg("%s of %zu bytes: code %u", #TYPE, size_, code_);                      \
			}                                                                                       \
			bool filled_ = code_ == ERROR_SUCCESS;                                                  \
			assert_int_equal(ret->size, size_);                                                     \
			for (size_t b_ = sizeof ret->size; b_ < sizeof u_.bytes; b_++) {                        \
				if (!filled_ || b_ >= size_) {                                                  \
					assert_int_equal(u_.bytes[b_], 0xAA);                                   \
				} else if (b_ >= sizeof(TYPE)) {                                                \
					assert_int_equal(u_.bytes[b_], 0);                                      \
				}                                                                               \
			}                                                                                       \
		}                                                                                               \
	} while (0)

#endif
