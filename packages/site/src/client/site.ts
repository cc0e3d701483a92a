import { addCopyButtons } from './copy.ts'
import { openSearch } from './search.ts'
import './site.css'

addCopyButtons()
const place = document.getElementById('search')
if (place) openSearch(place)

// The list of pages covers a phone, so it begins closed there.
if (matchMedia('(max-width: 900px)').matches) document.querySelector('.menu')?.removeAttribute('open')
document.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
