"""Rows answered with at most a share a of wrong answers: krigo beside MAPIE's BinaryClassificationController with its defaults.

python3 answers.py KRIGO [DRAWS], with mapie 1.6 and numpy
"""
import json
import logging
import subprocess
import sys
import tempfile
import warnings

import numpy as np
warnings.filterwarnings("ignore"); logging.disable(logging.WARNING)
from mapie.risk_control import BinaryClassificationController
def draw(kind, n, rng):
    if kind=='beta': p=.5+.5*rng.beta(3,1,n)          # calibrated, error 12.5 %
    elif kind=='sharp': p=.5+.5*rng.beta(8,1,n)
    elif kind=='hard': p=.5+.5*rng.beta(1.5,1,n)
    right=(rng.random(n)<p).astype(int)
    return p,right
reps = int(sys.argv[2]) if len(sys.argv) > 2 else 15
table = tempfile.mkdtemp() + '/scores.csv'
for kind in ('beta','sharp','hard'):
  for a in (.02,.05,.1):
    for n in (150,300,500,1000,2000,5000):
        rng=np.random.default_rng([n,int(1000*a),len(kind)]); A=[];B=[];
        for r in range(reps):
            p,right=draw(kind,n,rng)
            ctl=BinaryClassificationController(lambda X: np.column_stack([1-X[:,0],X[:,0]]),'precision',1-a,confidence_level=.9)
            m=0
            try:
                ctl.calibrate(p[:,None],right)
                if len(ctl.valid_predict_params): m=int((p>=ctl.best_predict_param).sum()); m=max(m,max(int((p>=t).sum()) for t in ctl.valid_predict_params))
            except Exception as e: pass
            open(table,'w').write('y,prediction,score\n'+''.join(f'{"a" if q else "b"},a,{v!r}\n' for v,q in zip(p.tolist(),right)))
            o=subprocess.run([sys.argv[1],'certify','--predictions',table,'--target','y','--score','score','--at-most-wrong',str(a),'--delta','.1','--json'],capture_output=True,text=True)
            s=json.loads(o.stdout)['certificate']['selective']; A.append(s['answered']); B.append(m)
        A,B=np.array(A),np.array(B)
        print(f'{kind:6} a={a:.2f} n={n:5} krigo {A.mean()/n:.3f} mapie {B.mean()/n:.3f} ratio {A.mean()/max(B.mean(),1e-9):.3f} worse {np.mean(A<B):.2f} none k {np.mean(A==0):.2f} m {np.mean(B==0):.2f}',flush=True)
