"""Deveci et al., Euro-Par 2013: APFB and APsB, one kernel a level; HK and HKDW, sequential rivals in their tables."""
