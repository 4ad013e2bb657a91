/* SPDX-License-Identifier: MIT
 * Folders of symbols that the page gives.
 */
#ifndef TOOLS_VIEW_VIEW_SYMBOLS_H
#define TOOLS_VIEW_VIEW_SYMBOLS_H

struct table_maker;

/* What it makes from now on is named with them, too. */
void view_symbols_apply(struct table_maker *m);

#endif
