package main

import (
	"strings"

	"grfgp/store"
)

// migrated says that the tables of a store of an older version were changed.
func (a *app) migrated(m store.Migration) {
	kept := "older programs cannot open it any more"
	if m.Backup != "" {
		kept = "the store as it was is in " + m.Backup
	}
	a.talk.Say("note: the store was changed from version %d to %d (%s); %s", m.From, m.To, strings.Join(m.News, "; "), kept)
}
