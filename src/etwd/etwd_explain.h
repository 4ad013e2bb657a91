/* SPDX-License-Identifier: MIT
 *
 * What explains the events of programs: descriptions that they carry, the images that they have mapped, where their providers lie.
 */
#ifndef ETWD_ETWD_EXPLAIN_H
#define ETWD_ETWD_EXPLAIN_H

#include "sink/sink.h"

struct conn;
struct etwd;
struct process;
struct proto_message;
struct registration;
struct session;

void etwd_binary_track(struct etwd *d, struct conn *c, const struct proto_message *m);
/* A module of this process describes its events: a copy goes where decoders look. */
void etwd_described(struct etwd *d, struct conn *c, const struct proto_message *m);
/* For jobs: waits until what was told so far is in its place, but not for ever. */
void etwd_described_wait(void);
/* A process says which images it has mapped. */
void etwd_images(struct etwd *d, struct conn *c, const struct proto_message *m);
/* Before a record with this stack (item data) goes to the session: it is told what the process has mapped. `ts` is the
 * record's, of the raw clock. */
void etwd_images_stack(struct etwd *d, struct process *p, struct session *s, uint16_t cpu, uint64_t ts,
		       const uint8_t *stack, uint32_t bytes);
void etwd_images_gone(struct etwd *d, struct process *p);
/* A file was opened, a consumer came: what follows explains itself. The first on any thread. */
void etwd_images_file(struct session *s);
/* What is in memory has to be explained in a copy, by etwd_images_again() after sink_flush_held(). */
bool etwd_images_explain(const struct session *s);
void etwd_images_again(struct etwd *d, struct session *s);
void etwd_images_stop(struct etwd *d, struct session *s); /* its last records */
void etwd_images_forget(struct etwd *d, struct session *s);
/* Files of sessions: what their events mean is written into them. Once, before sessions; takes care of
 * those an earlier etwd left. Without it (in tests) nothing happens. */
void etwd_embed_start(struct etwd *d);
void etwd_embed_on_file(void *session, const char *path, enum sink_file_event event);
/* For jobs: the last file of a session whose sink has ended. */
void etwd_embed_last(const char *path, bool by_controller);
/* For jobs: until nothing is under way, or nothing of an earlier etwd's, but not for ever. */
void etwd_embed_wait(bool left_only);
/* For jobs: until nothing is done to that file, but not for ever. */
void etwd_embed_wait_for(const char *path);
/* Tell a session that has just enabled it. */
void etwd_binary_write(struct etwd *d, struct session *s, const struct registration *r);

#endif
