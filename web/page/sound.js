// Short sounds of seeds, generated here: no file is loaded.

import { settings } from "./settings.js";

/** @type {AudioContext | undefined} */
let audio;

/** Returns true if the browser allows sounds: after a first click or key. */
const allowed = () => navigator.userActivation?.hasBeenActive ?? true;

/** Plays a knock of this pitch in hertz, unless sounds are off. */
export function knock(pitch = 320) {
  if (!settings.sounds || !allowed()) return;
  audio ??= new AudioContext();
  const start = audio.currentTime;
  // Wood: two tones that end at once.
  for (const [form, times, loud] of /** @type {const} */ ([
    ["triangle", 1, 0.15],
    ["sine", 2.76, 0.07],
  ])) {
    const [tone, volume] = [audio.createOscillator(), audio.createGain()];
    tone.type = form;
    tone.frequency.setValueAtTime(pitch * times, start);
    tone.frequency.exponentialRampToValueAtTime(0.7 * pitch * times, start + 0.06);
    volume.gain.setValueAtTime(loud, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + 0.08 / Math.sqrt(times));
    tone.connect(volume).connect(audio.destination);
    tone.start(start);
    tone.stop(start + 0.1);
  }
}
