"""Deveci et al., Euro-Par 2013: APFB and APsB, one kernel a level; and HKDW, a sequential rival in their tables."""
