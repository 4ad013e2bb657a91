/* SPDX-License-Identifier: MIT
 * The one file that DuckDB may write: what the parent has opened.
 */
#ifndef TOOLS_SQL_SQL_FILE_H
#define TOOLS_SQL_SQL_FILE_H

/* Its name for DuckDB, which is no name for anybody else. */
#define SQL_FILE_NAME "/openetw-export"

/* From now on `fd` is opened by that name. */
void sql_file_set(int fd);

#endif
