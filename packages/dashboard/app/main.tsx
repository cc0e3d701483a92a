import '@mantine/core/styles.css'
import './app.css'
import { createRoot } from 'react-dom/client'
import { moveToName } from './address.ts'
import { App } from './app.tsx'
import { trustOwnScriptsOnly } from './trust.ts'

trustOwnScriptsOnly()
if (!moveToName()) createRoot(document.getElementById('root') as HTMLElement).render(<App />)
