/* A library from before the functions that an engine needs: it has none of them. */
int too_old(void);
int too_old(void) { return 0; }
