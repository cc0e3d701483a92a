import { isIP } from 'node:net'

/** 4 or 6 for an IP address, 0 for anything else. Nothing but this reads `node:net` here: adapters connect by `Outside`. */
export const addressFamily = (text: string): number => isIP(text)
