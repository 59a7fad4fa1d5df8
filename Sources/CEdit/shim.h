/* libedit: a line to type in. What takes a variable number of arguments, or the files
 * of stdio, Swift cannot import. */
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Who hands over what is typed. */
struct cedit_reader {
  /* The next Unicode scalar; 0 when no more is to be read. */
  int (*next)(void *context);
  void *context;
};

static inline int cedit_next(EditLine *edit, wchar_t *character) {
  void *data = NULL;
  el_get(edit, EL_CLIENTDATA, &data);
  const struct cedit_reader *reader = (const struct cedit_reader *)data;
  int scalar = reader->next(reader->context);
  if (scalar <= 0) return 0;
  *character = (wchar_t)scalar;
  return 1;
}

static inline char *cedit_prompt(EditLine *edit) {
  static char prompt[] = "> ";
  (void)edit;
  return prompt;
}

/* Makes UTF-8 what libedit takes and gives: it goes by the locale. */
static inline void cedit_use_utf8(void) {
  if (setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return;
  if (!setlocale(LC_CTYPE, "C.UTF-8")) setlocale(LC_CTYPE, "en_US.UTF-8");
}

/* A line on the terminal of standard input and output; the reader must stay where it is.
 * NULL when there is no memory. */
static inline EditLine *cedit_open(const char *program, struct cedit_reader *reader,
                                   History *history_of_lines) {
  EditLine *edit = el_init(program, stdin, stdout, stderr);
  if (!edit) return NULL;
  el_set(edit, EL_CLIENTDATA, (void *)reader);
  el_set(edit, EL_PROMPT, cedit_prompt);
  el_set(edit, EL_EDITOR, "emacs");
  el_set(edit, EL_SIGNAL, 0);
  el_set(edit, EL_HIST, history, history_of_lines);
  el_wset(edit, EL_GETCFN, cedit_next);
  /* What the user wants of libedit, in ~/.editrc. */
  el_source(edit, NULL);
  return edit;
}

/* Shows prompt and line again, below what was written meanwhile. */
static inline void cedit_refresh(EditLine *edit) { el_set(edit, EL_REFRESH); }

/* Takes the terminal again after somebody else had it. */
static inline void cedit_prepare(EditLine *edit) { el_set(edit, EL_PREP_TERM, 1); }

/* Keeps that many lines, each once in a row. */
static inline void cedit_limit(History *lines, int most) {
  HistEvent event;
  history(lines, &event, H_SETSIZE, most);
  history(lines, &event, H_SETUNIQUE, 1);
}

/* Adds a line. */
static inline void cedit_add(History *lines, const char *line) {
  HistEvent event;
  history(lines, &event, H_ENTER, line);
}
