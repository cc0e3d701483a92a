import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { readFileSync, rmSync } from 'node:fs'
import v8 from 'node:v8'
v8.setFlagsFromString('--no-wasm-tier-up'); v8.setFlagsFromString('--no-wasm-dynamic-tiering')
const [,, dir, im, ...sets]=process.argv
const rss=()=>readFileSync('/proc/self/status','utf8').match(/(VmRSS|VmHWM).*/g).join(' ')
let t=performance.now()
try {
const p=await PGlite.create({fs:new NodeFS(dir), initialMemory: im==='-'?undefined:im*2**20, startParams:['--single','-O','-j','-c','search_path=public','-c','exit_on_error=false',...sets.filter(s=>!s.startsWith('I:')).flatMap(s=>['-c',s])], initDbStartParams: sets.filter(s=>s.startsWith('I:')).map(s=>s.slice(2))})
console.log(im, sets.join(' '), (performance.now()-t)|0,'ms', rss(), 'heap', p.Module.HEAPU8.length/2**20)
for (let i=0;i<100;i++) await p.query('select count(*) from pg_class where relname > $1',[String(i)])
await p.exec('create table if not exists q(a int, b text); insert into q select i, repeat($$x$$,500) from generate_series(1,20000) i'); await p.exec('select count(distinct b||a) from q'); await p.exec('drop table q')
await new Promise(r=>setTimeout(r,500)); globalThis.gc?.()
console.log('  used', rss(), 'heap', p.Module.HEAPU8.length/2**20)
await p.close()
} catch(e) { console.log(im, String(e).slice(0,200)) }
